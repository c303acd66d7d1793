/** A request that the gate cannot fulfil, described for users. */
export class GateError extends Error {
  override name = 'GateError'
  /** Of the system call that failed: `EADDRINUSE`, `EACCES`; empty for anything else. */
  readonly code: string
  /** The port that the request concerned. */
  readonly port: number | undefined

  constructor(message: string, more: { code?: string; port?: number | undefined } = {}) {
    super(message)
    this.code = more.code ?? ''
    this.port = more.port
  }
}
