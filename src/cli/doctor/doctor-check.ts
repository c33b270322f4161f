/** One line of `coppice doctor`. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** False: good to have, not needed. */
  readonly needed: boolean;
  readonly text: string;
}
