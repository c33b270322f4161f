export interface TelegramAnswer {
  readonly status: number;
  /** A string is sent as an HTML page, anything else as JSON. */
  readonly body: unknown;
}

export function granted(result: unknown): TelegramAnswer {
  return { status: 200, body: { ok: true, result } };
}

export function refusal(status: number, description: string, parameters?: object): TelegramAnswer {
  const body = {
    ok: false,
    error_code: status,
    description,
    ...(parameters === undefined ? {} : { parameters }),
  };
  return { status, body };
}
