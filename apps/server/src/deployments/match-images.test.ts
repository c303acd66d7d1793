import { expect, it } from 'vitest'
import { type MatchableImage, matchImages } from './match-images.ts'

/** "registry/name as container" */
const image = (text: string): MatchableImage => {
  const [, registryId = '', name = '', containerName = name] = /^(\w+)\/(\w+)(?: as (\w+))?$/.exec(text) ?? []
  return { id: text, registryId, name, containerName }
}
const match = (images: string[], sources: string[]) =>
  Object.fromEntries(matchImages(images.map(image), sources.map(image)))

it('matches the same registry and name, whatever the order is', () => {
  expect(match(['r/web', 'r/db'], ['r/db', 'r/web'])).toEqual({ 'r/web': 'r/web', 'r/db': 'r/db' })
  expect(match(['r/web', 'r/new'], ['r/web', 'r/old'])).toEqual({ 'r/web': 'r/web' })
})

it('tells several images of one name apart by their container names', () => {
  expect(match(['r/web as b', 'r/web as a'], ['r/web as a', 'r/web as b'])).toEqual({
    'r/web as a': 'r/web as a',
    'r/web as b': 'r/web as b',
  })
  expect(match(['r/web as b'], ['r/web as a', 'r/web as b'])).toEqual({ 'r/web as b': 'r/web as b' })
})

it('follows a renamed container only where no other image could be meant', () => {
  expect(match(['r/web as front'], ['r/web as back'])).toEqual({ 'r/web as front': 'r/web as back' })
  expect(match(['r/web as b', 'r/web as c'], ['r/web as a', 'r/web as b'])).toEqual({
    'r/web as b': 'r/web as b',
    'r/web as c': 'r/web as a',
  })
  expect(match(['r/web as c', 'r/web as d'], ['r/web as a', 'r/web as b'])).toEqual({})
  expect(match(['r/web as c'], ['r/web as a', 'r/web as b'])).toEqual({})
})

it('matches an image of another registry or name by the name of its container, each source once', () => {
  expect(match(['s/web'], ['r/web'])).toEqual({ 's/web': 'r/web' })
  expect(match(['s/other as web', 't/third as web'], ['r/web'])).toEqual({ 's/other as web': 'r/web' })
  // The same image comes first.
  expect(match(['s/web', 'r/web'], ['r/web'])).toEqual({ 'r/web': 'r/web' })
})
