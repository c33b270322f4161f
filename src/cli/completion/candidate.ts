export interface Candidate {
  readonly value: string;
  readonly description: string;
}
