export const getMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Writes an error to the log of the gate, which its standard error is. */
export function report(error: unknown): void {
  process.stderr.write(`${getMessage(error)}\n`)
}
