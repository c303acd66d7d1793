import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { LogLevel, ReleaseSchema } from '@crux/agent-protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openFileLogs } from '../state/file-state.ts'
import { type EventInit, type Journal, openJournals } from './journal.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-journal-'))
})
const opened: Journal[] = []
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.drop()
  await rm(directory, { recursive: true, force: true })
})
async function createJournal(): Promise<Journal> {
  const journal = await openJournals(openFileLogs(directory)).create(release)
  opened.push(journal)
  return journal
}
async function load() {
  const found = await openJournals(openFileLogs(directory)).load()
  opened.push(...found.journals)
  return found
}

const release = create(ReleaseSchema, {
  key: { deploymentId: 'dep-1', number: 3 },
  projectName: 'shop',
  sharedSecrets: { a: 'b' },
})
const line = (text: string): EventInit => ({
  case: 'log',
  value: { instanceId: '', level: LogLevel.INFO, lines: [text], fromContainer: false },
})
const listTexts = (events: { event: { value?: unknown } }[]) =>
  events.map(({ event }) => (event.value as { lines?: string[] }).lines?.[0])

describe('a journal', () => {
  test('gives another process the order, the decisions and the events in sequence', async () => {
    const journal = await createJournal()
    journal.append(line('one'))
    await journal.decide({ digests: { i: 'sha256:1' } })
    journal.append(line('two'))
    await journal.decide({ committed: true })
    await journal.written()
    const { journals, unreadable } = await load()
    expect(unreadable).toEqual([])
    const [again] = journals
    expect(again?.release).toEqual(release)
    expect(again?.state).toEqual({ digests: { i: 'sha256:1' }, committed: true })
    expect(again?.eventsAfter(0, 10).map(({ sequence }) => sequence)).toEqual([1n, 2n])
    again?.append(line('three'))
    expect(listTexts(again?.eventsAfter(1, 10) ?? [])).toEqual(['two', 'three'])
  })

  test('is readable by its owner alone and deleted when it is dropped', async () => {
    const journal = await createJournal()
    await journal.written()
    const [name] = await readdir(directory)
    expect((await stat(join(directory, name ?? ''))).mode & 0o777).toBe(0o600)
    await opened.pop()?.drop()
    expect(await readdir(directory)).toEqual([])
  })

  test('survives a last line that a crash cut short and appends after it', async () => {
    const journal = await createJournal()
    journal.append(line('one'))
    await journal.written()
    const path = join(directory, (await readdir(directory))[0] ?? '')
    await appendFile(path, '{"event":{"sequence":"2","lo')
    const [second] = (await load()).journals
    expect(second?.lastSequence).toBe(1)
    second?.append(line('two'))
    await second?.written()
    const [third] = (await load()).journals
    expect(listTexts(third?.eventsAfter(0, 10) ?? [])).toEqual(['one', 'two'])
  })

  test('starts a release only once and refuses an id that is no file name', async () => {
    await createJournal()
    await expect(openJournals(openFileLogs(directory)).create(release)).rejects.toThrow('EEXIST')
    const odd = create(ReleaseSchema, { key: { deploymentId: '../x', number: 1 } })
    await expect(openJournals(openFileLogs(directory)).create(odd)).rejects.toThrow('a deployment id has only')
  })

  test('sets aside files that it cannot read and reads the others', async () => {
    await createJournal()
    await appendFile(join(directory, 'broken.1.jsonl'), '{"decision":{}}\n')
    const { journals, unreadable } = await load()
    expect(journals).toHaveLength(1)
    expect(unreadable).toEqual(['broken.1'])
  })

  test('sets aside a journal of another format, whose plan this agent could not resume', async () => {
    await createJournal()
    const [name = ''] = await readdir(directory)
    const content = await readFile(join(directory, name), 'utf8')
    expect(content).toContain('"format":3')
    for (const other of [content.replace(',"format":3', ''), content.replace('"format":3', '"format":2')]) {
      await writeFile(join(directory, 'older.1.jsonl'), other)
      expect((await load()).unreadable).toEqual(['older.1'])
    }
  })

  test('starts the same release again where a loss of power left an empty file', async () => {
    const path = join(directory, 'dep-1.3.jsonl')
    await appendFile(path, '')
    expect((await load()).unreadable).toEqual(['dep-1.3'])
    expect((await createJournal()).lastSequence).toBe(0)
    expect(await readdir(directory)).toEqual(['dep-1.3.jsonl', 'dep-1.3.jsonl.unreadable'])
  })
})
