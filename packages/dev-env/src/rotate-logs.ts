import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '@crux/service-kit'
import { z } from 'zod'

export interface LogLimits {
  /** A longer file is renamed to `.1`, and the previous ones to `.2` and so on. */
  bytesMax: number
  /** The number of older files that are kept beside the current one. */
  filesKept: number
}

const Settings = z.object({
  LOG_FILE_MEGABYTES: z.coerce.number().int().min(1).max(10_000).default(20).meta({ example: '20' }),
  LOG_FILES_KEPT: z.coerce.number().int().min(1).max(100).default(3).meta({ example: '3' }),
})

const checkEveryMs = 10_000

/** @throws ConfigError that names the variable */
export function readLogLimits(env: NodeJS.ProcessEnv): LogLimits {
  const { LOG_FILE_MEGABYTES, LOG_FILES_KEPT } = parseConfig(Settings, env)
  return { bytesMax: LOG_FILE_MEGABYTES * 1024 * 1024, filesKept: LOG_FILES_KEPT }
}

/**
 * Limits the size of all logs of an installation while their processes write them.
 *
 * @returns the function that stops it
 */
export function rotateWhileRunning(
  directory: string,
  limits: LogLimits,
  onError: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => {
    try {
      rotateLogs(directory, limits)
    } catch (error) {
      onError(error)
    }
  }, checkEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Checks every log of a directory once. */
export function rotateLogs(directory: string, limits: LogLimits): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) if (name.endsWith('.log')) rotateLog(join(directory, name), limits)
}

/**
 * Copies a long log and truncates it. A process keeps its file open and appends to it, so the file cannot be replaced. Lines that are written between
 * the last read and the truncation, some microseconds, are lost.
 */
function rotateLog(file: string, { bytesMax, filesKept }: LogLimits): void {
  const log = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    const { size } = fstatSync(log)
    if (size <= bytesMax) return
    const part = `${file}.part`
    // Only the end of a log is kept that exceeds several times the limit because it was not checked for long.
    copyEnd(log, part, Math.max(0, size - bytesMax))
    ftruncateSync(log, 0)
    rmSync(`${file}.${filesKept}`, { force: true })
    for (let age = filesKept - 1; age >= 1; age -= 1)
      if (existsSync(`${file}.${age}`)) renameSync(`${file}.${age}`, `${file}.${age + 1}`)
    renameSync(part, `${file}.1`)
  } finally {
    closeSync(log)
  }
}

/**
 * Copies whole lines, from the first that begins at or after `start` to the last complete one. A partial line is being written, so its rest would be
 * lost with the truncation.
 */
function copyEnd(log: number, to: string, start: number): void {
  const copy = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600)
  try {
    const buffer = Buffer.alloc(256 * 1024)
    let position = start
    let isCut = start > 0
    let copied = 0
    let linesEnd = 0
    for (;;) {
      const length = readSync(log, buffer, 0, buffer.length, position)
      if (length === 0) break
      position += length
      const lineEnd = isCut ? buffer.subarray(0, length).indexOf(10) + 1 : 0
      if (isCut && lineEnd === 0) continue
      isCut = false
      const lastEnd = buffer.subarray(lineEnd, length).lastIndexOf(10) + 1
      if (lastEnd > 0) linesEnd = copied + lastEnd
      copied += writeSync(copy, buffer, lineEnd, length - lineEnd)
    }
    // A log that consists of one incomplete line is kept as it is.
    if (linesEnd > 0) ftruncateSync(copy, linesEnd)
  } finally {
    closeSync(copy)
  }
}
