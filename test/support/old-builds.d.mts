export interface OldCommit {
  readonly what: string;
  readonly commit: string;
}

export function oldCommits(): readonly OldCommit[];
export function builtAt(commit: string): Promise<string>;
