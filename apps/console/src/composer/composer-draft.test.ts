import { expect, test } from 'vitest'
import {
  addChosenFiles,
  addFile,
  type ComposerDraft,
  emptyDraft,
  findNameProblem,
  isEmptyDraft,
  parseDraft,
  parseProfiles,
  removeFile,
  renameFile,
  setText,
  toSourceFiles,
} from './composer-draft.ts'

const names = ({ files, envFiles }: ComposerDraft) => [files.map(({ name }) => name), envFiles.map(({ name }) => name)]
const firstIds = ({ files, envFiles }: ComposerDraft) => ({ file: files[0]?.id ?? '', env: envFiles[0]?.id ?? '' })

test('begins with an empty compose file and the default .env file', () => {
  const draft = emptyDraft()
  expect(names(draft)).toEqual([['compose.yaml'], ['.env']])
  expect(isEmptyDraft(draft)).toBe(true)
  expect(isEmptyDraft(setText(draft, firstIds(draft).env, 'A=1'))).toBe(false)
})

test('gives added files names that no other file has', () => {
  let draft = addFile(emptyDraft(), 'files').draft
  draft = addFile(draft, 'files').draft
  draft = addFile(draft, 'envFiles').draft
  draft = addFile(draft, 'envFiles').draft
  expect(names(draft)).toEqual([
    ['compose.yaml', 'compose.override.yaml', 'compose.3.yaml'],
    ['.env', '.env.2', '.env.3'],
  ])
})

test('keeps the default .env file and the last compose file', () => {
  const draft = emptyDraft()
  const { file, env } = firstIds(draft)
  expect(removeFile(draft, 'envFiles', env)).toBe(draft)
  expect(removeFile(draft, 'files', file)).toBe(draft)
  const two = addFile(draft, 'files').draft
  expect(names(removeFile(two, 'files', file))[0]).toEqual(['compose.override.yaml'])
})

test('refuses a name that is empty, too long or taken by another file', () => {
  const { draft, id } = addFile(emptyDraft(), 'envFiles')
  expect(findNameProblem(draft, id, ' ')).toBe('required')
  expect(findNameProblem(draft, id, 'x'.repeat(256))).toBe('tooLong')
  expect(findNameProblem(draft, id, 'compose.yaml')).toBe('taken')
  expect(findNameProblem(draft, id, '.env.2')).toBeNull()
  expect(names(renameFile(draft, id, 'db.env'))[1]).toEqual(['.env', 'db.env'])
})

test('a chosen compose file replaces the empty one, and files with known names replace their text', () => {
  const draft = addChosenFiles(emptyDraft(), [
    { name: 'docker-compose.yml', text: 'services: {}' },
    { name: '.env', text: 'A=1' },
    { name: 'db.env', text: 'B=2' },
    { name: 'extra.yaml', text: 'services:' },
  ])
  expect(names(draft)).toEqual([
    ['docker-compose.yml', 'extra.yaml'],
    ['.env', 'db.env'],
  ])
  const again = addChosenFiles(draft, [{ name: '.env', text: 'A=2' }])
  expect(again.envFiles.map(({ text }) => text)).toEqual(['A=2', 'B=2'])
})

test('a stored draft is read back, and one that cannot be read is ignored', () => {
  const draft = setText(emptyDraft(), '', '')
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft)
  for (const stored of [null, '', '{', '{"files":[],"envFiles":[],"profiles":""}'])
    expect(parseDraft(stored)).toBeUndefined()
})

test('reads profiles between commas and spaces, each once', () => {
  expect(parseProfiles(' debug, test,,debug  web ')).toEqual(['debug', 'test', 'web'])
})

test('copies no more of a text than the reader needs to refuse it', () => {
  const draft = emptyDraft()
  const long = setText(draft, firstIds(draft).file, 'x'.repeat(3_000_000))
  expect(toSourceFiles(long.files)[0]?.text).toHaveLength(1024 ** 2 + 1)
})
