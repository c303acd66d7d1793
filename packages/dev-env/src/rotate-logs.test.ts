import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '@crux/service-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLogLimits, rotateLogs } from './rotate-logs.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'logs-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const read = (name: string) => readFileSync(join(directory, name), 'utf8')

test('rotateLogs rotates a log that a process keeps writing at its limit, in whole lines, and deletes old files', async () => {
  const limits = { bytesMax: 100_000, filesKept: 2 }
  const lines = (number: string) => `\`line \${${number}} of the log\\n\``
  writeFileSync(
    join(directory, 'writer.mjs'),
    `let n = 0; const write = () => process.stdout.write(${lines('n++')}, () => setImmediate(write)); write()`,
  )
  const out = openSync(join(directory, 'server.log'), 'a', 0o600)
  const writer = spawn(process.execPath, [join(directory, 'writer.mjs')], { stdio: ['ignore', out, 'inherit'] })
  closeSync(out)
  try {
    const names = new Set<string>()
    for (let rotations = 0; rotations < 6; ) {
      const before = existsSync(join(directory, 'server.log.1')) ? statSync(join(directory, 'server.log.1')).ino : 0
      rotateLogs(directory, limits)
      const after = existsSync(join(directory, 'server.log.1')) ? statSync(join(directory, 'server.log.1')).ino : 0
      if (after !== before) rotations += 1
      for (const name of readdirSync(directory)) names.add(name)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect([...names].sort()).toEqual(['server.log', 'server.log.1', 'server.log.2', 'writer.mjs'])
  } finally {
    writer.kill('SIGKILL')
    await new Promise((resolve) => writer.once('exit', resolve))
  }
  const numbers = ['server.log.2', 'server.log.1'].flatMap((name) => {
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    const lines = read(name).trimEnd().split('\n')
    expect(lines.filter((line) => !/^line \d+ of the log$/.test(line))).toEqual([])
    return lines.map((line) => Number(line.split(' ')[1]))
  })
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
})

test('rotateLogs does not change a short log, other files, and links to logs', () => {
  const long = 'x\n'.repeat(100)
  writeFileSync(join(directory, 'short.log'), 'short\n')
  writeFileSync(join(directory, 'other.txt'), long)
  writeFileSync(join(directory, 'long.log'), long)
  rotateLogs(directory, { bytesMax: 100, filesKept: 1 })
  expect(readdirSync(directory).sort()).toEqual(['long.log', 'long.log.1', 'other.txt', 'short.log'])
  expect([read('short.log'), read('other.txt'), read('long.log')]).toEqual(['short\n', long, ''])
  symlinkSync(join(directory, 'other.txt'), join(directory, 'link.log'))
  expect(() => rotateLogs(directory, { bytesMax: 100, filesKept: 1 })).toThrow()
  expect(read('other.txt')).toBe(long)
})

test('readLogLimits fails with the name of a setting that is invalid', () => {
  expect(readLogLimits({})).toEqual({ bytesMax: 20 * 1024 * 1024, filesKept: 3 })
  expect(readLogLimits({ LOG_FILE_MEGABYTES: '5', LOG_FILES_KEPT: '7' })).toEqual({
    bytesMax: 5 * 1024 * 1024,
    filesKept: 7,
  })
  expect(() => readLogLimits({ LOG_FILE_MEGABYTES: '0' })).toThrow(ConfigError)
})
