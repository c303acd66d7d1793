import type { LogChunkLine } from '../../engine.ts'

/** A longer line is delivered in pieces, so that a container cannot fill the agent's memory with one line. */
const lineBytesMax = 64 * 1_024

/**
 * Converts Docker's log stream to lines. Without a terminal every piece comes in a frame: one byte for the stream, three empty bytes, four
 * for the length; with a terminal it is plain text. Each piece starts with the moment it was written.
 */
export class LogParser {
  readonly #framed: boolean
  #pending: Buffer = Buffer.alloc(0)
  readonly #partial: [LogChunkLine | undefined, LogChunkLine | undefined] = [undefined, undefined]
  #lastSecondText = ''
  #lastSecond = 0n
  #lastNanos = 0

  constructor(options: { framed: boolean }) {
    this.#framed = options.framed
  }

  push(chunk: Buffer): LogChunkLine[] {
    const data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const lines: LogChunkLine[] = []
    const used = this.#framed ? this.#takeFrames(data, lines) : this.#takeText(data, lines)
    this.#pending = used === data.length ? Buffer.alloc(0) : data.subarray(used)
    return lines
  }

  /** Returns the text without a line end that was left when the stream ended. */
  end(): LogChunkLine[] {
    const lines = this.#partial.filter((line) => line !== undefined)
    if (!this.#framed && this.#pending.length > 0)
      lines.push(this.#toLine(this.#pending, 0, this.#pending.length, false))
    this.#pending = Buffer.alloc(0)
    this.#partial.fill(undefined)
    return lines
  }

  #takeFrames(data: Buffer, lines: LogChunkLine[]): number {
    let at = 0
    while (data.length - at >= 8) {
      const length = data.readUInt32BE(at + 4)
      const end = at + 8 + length
      if (end > data.length) break
      this.#takePiece(data, at + 8, end, data[at] === 2, lines)
      at = end
    }
    return at
  }

  #takeText(data: Buffer, lines: LogChunkLine[]): number {
    let at = 0
    for (;;) {
      const end = data.indexOf(10, at)
      if (end === -1) break
      lines.push(this.#toLine(data, at, end > at && data[end - 1] === 13 ? end - 1 : end, false))
      at = end + 1
    }
    if (data.length - at <= lineBytesMax) return at
    lines.push(this.#toLine(data, at, data.length, false))
    return data.length
  }

  /** Docker cuts lines above 16 kB into several pieces, of which only the last ends with a line end. */
  #takePiece(data: Buffer, start: number, end: number, stderr: boolean, lines: LogChunkLine[]): void {
    const whole = end > start && data[end - 1] === 10
    const piece = this.#toLine(data, start, whole ? end - 1 : end, stderr)
    const slot = stderr ? 1 : 0
    const before = this.#partial[slot]
    if (before) before.text += piece.text
    const line = before ?? piece
    if (whole || line.text.length > lineBytesMax) {
      this.#partial[slot] = undefined
      lines.push(line)
    } else this.#partial[slot] = line
  }

  #toLine(data: Buffer, start: number, end: number, stderr: boolean): LogChunkLine {
    const space = data.indexOf(32, start)
    // "2026-11-21T13:33:35.123456789Z": 20 to 30 characters, always in UTC.
    if (space === -1 || space > end || space - start < 20 || space - start > 35 || data[space - 1] !== 90) {
      // A terminal's line that is delivered in pieces has its time only before the first piece.
      return { seconds: this.#lastSecond, nanos: this.#lastNanos, stderr, text: data.toString('utf8', start, end) }
    }
    const secondText = data.toString('latin1', start, start + 19)
    if (secondText !== this.#lastSecondText) {
      this.#lastSecondText = secondText
      this.#lastSecond = BigInt(Math.floor(Date.parse(`${secondText}Z`) / 1_000))
    }
    let nanos = 0
    const digits = space - 1 - (start + 20)
    for (let index = start + 20; index < space - 1; index += 1) nanos = nanos * 10 + ((data[index] ?? 48) - 48)
    if (digits > 0) for (let missing = digits; missing < 9; missing += 1) nanos *= 10
    this.#lastNanos = digits > 0 ? nanos : 0
    return {
      seconds: this.#lastSecond,
      nanos: this.#lastNanos,
      stderr,
      text: data.toString('utf8', space + 1, end),
    }
  }
}
