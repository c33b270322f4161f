/** The IANA zone of this machine, where nobody names one. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
