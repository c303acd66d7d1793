import type { LogChunkLine } from '../../engine.ts'

/** A longer line is delivered in pieces, so that a container cannot fill the agent's memory with one line. */
const lineBytesMax = 64 * 1_024
const lineFeed = 10
const point = 46
const zero = 48
const nanosDigits = 9
const timeLengthMax = 40

/** Splits a log of the cluster into lines. Each line begins with its time, which the node writes with its own offset from UTC. */
export class LogLines {
  #pending: Buffer = Buffer.alloc(0)
  #last = { seconds: 0n, nanos: 0 }
  /** The second of the last time that was read in whole, its text, and the text of what follows its fraction. */
  #second = { text: '', end: '', seconds: 0n }

  push(chunk: Buffer): LogChunkLine[] {
    const data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const lines: LogChunkLine[] = []
    let rest = data.lastIndexOf(lineFeed) + 1
    // No character of UTF-8 contains a line feed, so that many lines are decoded at once.
    const text = data.toString('utf8', 0, rest)
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      lines.push(this.#toLine(text, at, end))
      at = end + 1
    }
    if (data.length - rest > lineBytesMax) {
      const piece = data.toString('utf8', rest)
      lines.push(this.#toLine(piece, 0, piece.length))
      rest = data.length
    }
    this.#pending = data.subarray(rest)
    return lines
  }

  /** Returns the text without a line end that was left when the log ended. */
  end(): LogChunkLine[] {
    const rest = this.#pending.toString('utf8')
    this.#pending = Buffer.alloc(0)
    return rest.length === 0 ? [] : [this.#toLine(rest, 0, rest.length)]
  }

  #toLine(text: string, from: number, to: number): LogChunkLine {
    // The rest of a line that was delivered in pieces has no time of its own.
    const start = this.#readTime(text, from) ?? this.#readWholeTime(text, from, to) ?? from
    const end = to > start && text[to - 1] === '\r' ? to - 1 : to
    const { nanos, seconds } = this.#last
    return { seconds, nanos, stderr: false, text: text.slice(start, end) }
  }

  /** Nearly every line has the second of the line before it, so only its fraction is read. @returns where the text begins */
  #readTime(line: string, from: number): number | undefined {
    const { end, seconds, text } = this.#second
    if (text === '' || !line.startsWith(text, from)) return undefined
    let at = from + text.length
    if (line.charCodeAt(at) !== point) return undefined
    const first = at + 1
    let nanos = 0
    for (at = first; at - first <= nanosDigits; at += 1) {
      const digit = line.charCodeAt(at) - zero
      if (!(digit >= 0 && digit <= 9)) break
      nanos = nanos * 10 + digit
    }
    const count = at - first
    if (count < 1 || count > nanosDigits || !line.startsWith(end, at)) return undefined
    this.#last = { seconds, nanos: nanos * 10 ** (nanosDigits - count) }
    return at + end.length
  }

  #readWholeTime(line: string, from: number, to: number): number | undefined {
    const space = line.slice(from, Math.min(to, from + timeLengthMax + 1)).indexOf(' ')
    if (space === -1) return undefined
    const [, text, digits = '', zone] =
      /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(line.slice(from, from + space)) ?? []
    if (text === undefined || zone === undefined) return undefined
    this.#second = { text, end: `${zone} `, seconds: BigInt(Math.floor(Date.parse(`${text}${zone}`) / 1_000)) }
    this.#last = { seconds: this.#second.seconds, nanos: Number(digits.padEnd(nanosDigits, '0')) }
    return from + space + 1
  }
}
