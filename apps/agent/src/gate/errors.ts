/** The gate cannot do what it was asked to, in a sentence for a person. */
export class GateError extends Error {
  override name = 'GateError'
  /** Of the system call that failed: `EADDRINUSE`, `EACCES`; empty for anything else. */
  readonly code: string
  /** The port that it was about. */
  readonly port: number | undefined

  constructor(message: string, more: { code?: string; port?: number | undefined } = {}) {
    super(message)
    this.code = more.code ?? ''
    this.port = more.port
  }
}
