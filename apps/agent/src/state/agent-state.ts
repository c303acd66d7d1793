/** What the agent stores for its next process: small records, and one append-only log per release. */
export interface AgentState {
  records: Records
  journals: LineLogs
}

export type RecordName =
  | 'token.json'
  | 'install-token'
  | 'secret.key'
  | 'public.key'
  | 'deleted-nodes.json'
  | 'update.json'
  | 'locked-namespaces.json'

export interface Records {
  /** Undefined when there is none. */
  read(name: RecordName): Promise<string | undefined>
  /** Replaces a record in one step: after a crash it has the old or the new content, never a part of it. */
  write(name: RecordName, content: string): Promise<void>
  /** Succeeds when there is none. */
  remove(name: RecordName): Promise<void>
}

export interface LineLogs {
  /** Creates a log with its first lines. @throws Error when there is one with the name */
  create(name: string, lines: string): Promise<LineLog>
  /** Names of all logs, in order. */
  list(): Promise<string[]>
  /** Reads the whole lines of a log, and opens it to append more. */
  open(name: string): Promise<{ log: LineLog; lines: string }>
  /** Keeps a log that cannot be read out of the way, so that the name is free. */
  setAside(name: string): Promise<void>
}

/** One append-only text of whole lines. Appends come one after another. */
export interface LineLog {
  /**
   * Resolves when the lines survive a kill of the process. After a failure, the next call begins with the same lines; those that were written
   * nevertheless are not written twice.
   */
  append(lines: string): Promise<void>
  /** Resolves when everything appended also survives a loss of power. */
  secure(): Promise<void>
  /** Frees what this process holds of it. */
  close(): Promise<void>
  remove(): Promise<void>
}
