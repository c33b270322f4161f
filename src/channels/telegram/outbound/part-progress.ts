/** How much of a parcel was sent, as it is kept between its messages. */
export interface PartProgress {
  readonly sent: number;
  readonly message_ids: readonly number[];
}

/** What an earlier try kept; nothing sent where that cannot be read. */
export function readProgress(kept: string | null): PartProgress {
  try {
    const { sent, message_ids } = JSON.parse(kept ?? 'null') as PartProgress;
    if (Number.isSafeInteger(sent) && sent >= 0 && Array.isArray(message_ids)) return { sent, message_ids };
  } catch {
    // Not ours, or none: from the beginning.
  }
  return { sent: 0, message_ids: [] };
}
