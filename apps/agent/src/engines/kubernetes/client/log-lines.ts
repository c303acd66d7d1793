import { StringDecoder } from 'node:string_decoder'
import type { LogChunkLine } from '../../engine.ts'

/** A longer line is delivered in pieces of this length, so that a container cannot fill the agent's memory with one line. */
const pieceLength = 64 * 1_024
const carriageReturn = 13
const point = 46
const zero = 48
const nanosDigits = 9
const timeLengthMax = 40
const nanosPerSecond = 1_000_000_000

/**
 * Splits a log of the cluster into lines. Each line begins with its time, which the node writes with its own offset from UTC. Each further
 * piece of a long line gets one nanosecond more than the piece before: callers continue a log after the time that they have read.
 */
export class LogLines {
  readonly #decoder = new StringDecoder('utf8')
  #pending = ''
  /** Whether the next piece continues a line. */
  #isContinued = false
  #last = { seconds: 0n, nanos: 0 }
  /** The second of the last time that was read in whole, its text, and the text of what follows its fraction. */
  #second = { text: '', end: '', seconds: 0n }

  push(chunk: Buffer): LogChunkLine[] {
    const text = this.#pending + this.#decoder.write(chunk)
    const lines: LogChunkLine[] = []
    let at = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
      this.#addLine(lines, text, at, end)
      at = end + 1
    }
    at = this.#addPieces(lines, text, at, getTextEnd(text, at, text.length))
    this.#pending = text.slice(at)
    return lines
  }

  /** Returns the text without a line end that was left when the log ended. */
  end(): LogChunkLine[] {
    const text = this.#pending + this.#decoder.end()
    this.#pending = ''
    const lines: LogChunkLine[] = []
    if (text.length > 0) this.#addLine(lines, text, 0, text.length)
    return lines
  }

  #addLine(lines: LogChunkLine[], text: string, from: number, to: number): void {
    const end = getTextEnd(text, from, to)
    lines.push(this.#toLine(text, this.#addPieces(lines, text, from, end), end))
    this.#isContinued = false
  }

  /**
   * Adds all pieces but the last. They depend on nothing but the line, so that a line that is read again has the same ones.
   *
   * @returns where the last one begins
   */
  #addPieces(lines: LogChunkLine[], text: string, from: number, to: number): number {
    let at = from
    while (to - at > pieceLength) {
      const cut = at + pieceLength - (isFirstOfTwo(text.charCodeAt(at + pieceLength - 1)) ? 1 : 0)
      lines.push(this.#toLine(text, at, cut))
      this.#isContinued = true
      at = cut
    }
    return at
  }

  #toLine(text: string, from: number, to: number): LogChunkLine {
    let start = from
    if (this.#isContinued) this.#last = addNanosecond(this.#last)
    else start = this.#readTime(text, from) ?? this.#readWholeTime(text, from, to) ?? from
    return { ...this.#last, stderr: false, text: text.slice(start, to) }
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

/** Two units of UTF-16 that are one character begin with one of these. */
const isFirstOfTwo = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Where the text of a line ends, without a carriage return. */
const getTextEnd = (text: string, from: number, to: number): number =>
  to > from && text.charCodeAt(to - 1) === carriageReturn ? to - 1 : to

const addNanosecond = ({ nanos, seconds }: { seconds: bigint; nanos: number }) =>
  nanos + 1 < nanosPerSecond ? { seconds, nanos: nanos + 1 } : { seconds: seconds + 1n, nanos: 0 }
