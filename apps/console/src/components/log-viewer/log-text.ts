import { saveFile } from '../save-file.ts'
import type { LogBuffer, LogLine } from './log-buffer.ts'
import { plainText } from './terminal-text.ts'

/** Lines from one number to another (in either order), as they are copied. */
export function getText(buffer: LogBuffer, range: { from: number; to: number }): string {
  const low = buffer.indexOf(Math.max(Math.min(range.from, range.to), buffer.first))
  const high = buffer.indexOf(Math.max(range.from, range.to))
  if (low < 0 || high < 0) return ''
  const texts: string[] = []
  for (let index = low; index <= high; index += 1) {
    const line = buffer.at(index)
    if (line) texts.push(line.skipped ? `... ${line.skipped} lines skipped ...` : plainText(line.text))
  }
  return texts.join('\n')
}

/** Saves all kept lines, each with its time in UTC and its source. */
export function download(buffer: LogBuffer, fileName: string): void {
  const parts: string[] = []
  for (let index = 0; index < buffer.size; index += 1) {
    const line = buffer.at(index)
    if (!line) continue
    const head = [line.at ? new Date(line.at).toISOString() : '', line.source ?? ''].filter(Boolean)
    parts.push(
      line.skipped ? `... ${line.skipped} lines skipped ...\n` : `${[...head, plainText(line.text)].join(' ')}\n`,
    )
  }
  saveFile(`${fileName}.log`, parts)
}

/** A line's number is only valid in this page; its time is the same for other users. */
export function setLineHash(line: LogLine): void {
  if (line.at) history.replaceState(history.state, '', `#at-${line.at}`)
}

/** The time that the address names; read once, when the page opens. */
export const timeOfHash = (): number => Number(/^#at-(\d+)$/.exec(location.hash)?.[1] ?? 0)

/** The first line at or after a time, as soon as it is there. */
export function lineFrom(buffer: LogBuffer, at: number): LogLine | undefined {
  for (let index = 0; index < buffer.size; index += 1) {
    const line = buffer.at(index)
    if (line && line.at >= at) return line
  }
  return undefined
}
