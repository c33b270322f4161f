/** What `read` returns; `otherwise` where it throws, whatever the reason. */
export function orElse<Value, Other>(read: () => Value, otherwise: Other): Value | Other {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
