import { clean } from '../../render/clean.ts';

/** The id of a chat: persons have positive ids, groups negative ones. Null when it is none. */
export function chatId(address: string): number | null {
  if (!/^-?[1-9]\d{0,15}$/.test(address)) return null;
  const id = Number(address);
  return Number.isSafeInteger(id) ? id : null;
}

/** Why nothing can be delivered to an address, and what to do; null when it can. */
export function addressProblem(address: string, allow: ReadonlySet<number>): string | null {
  const id = chatId(address);
  if (id === null)
    return `"${clean(address.slice(0, 40))}" is not a chat id of Telegram: write a number, such as telegram:123456789 for a person or telegram:-1001234567890 for a group`;
  if (id > 0 && !allow.has(id))
    return `the Telegram user ${id} is not among those who are allowed: add ${id} to channels.telegram.allow`;
  return null;
}
