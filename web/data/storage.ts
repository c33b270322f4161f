/** What this browser keeps for this origin; nothing where it offers no storage. */

export function stored(name: string): string | null {
  try {
    return window.localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function store(name: string, value: string): void {
  try {
    window.localStorage.setItem(name, value);
  } catch {
    // There is no storage, or it is full: the value lasts as long as the page.
  }
}
