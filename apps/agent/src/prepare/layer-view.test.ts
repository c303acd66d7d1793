import { expect, test } from 'vitest'
import { LayerView } from './layer-view.ts'

/** Layers from the lowest to the highest, of paths; a directory ends with a slash. @returns what counts, as "layer:path" */
function resolve(...layers: string[][]): string[] {
  const view = new LayerView()
  const found: string[] = []
  for (const [layer, entries] of [...layers.entries()].reverse())
    for (const entry of entries) {
      const isDirectory = entry.endsWith('/')
      const path = entry.split('/').filter((part) => part !== '')
      if (view.add(path, layer, isDirectory) === 'new') found.push(`${layer}:${entry}`)
    }
  return found
}

test('a file of a higher layer replaces that of a lower one, and directories become one', () => {
  expect(resolve(['etc/', 'etc/a', 'etc/b'], ['etc/', 'etc/a'])).toEqual(['1:etc/', '1:etc/a', '0:etc/b'])
})

test('a deleted file or directory hides what lower layers have, and nothing of its own layer', () => {
  expect(resolve(['etc/a', 'etc/sub/b'], ['etc/.wh.a', 'etc/.wh.sub', 'etc/sub/c'])).toEqual(['1:etc/sub/c'])
  expect(resolve(['etc/a'], ['etc/.wh.a'], ['etc/a'])).toEqual(['2:etc/a'])
  expect(resolve(['etc/a'], ['etc/a'], ['etc/.wh.a'])).toEqual([])
})

test('an opaque directory hides what lower layers have in it', () => {
  expect(resolve(['etc/', 'etc/a'], ['etc/', 'etc/.wh..wh..opq', 'etc/b'])).toEqual(['1:etc/', '1:etc/b'])
})

test('a file or link in the place of a directory hides what was below it', () => {
  expect(resolve(['etc/', 'etc/a'], ['etc'])).toEqual(['1:etc'])
  expect(resolve(['etc'], ['etc/', 'etc/a'])).toEqual(['1:etc/', '1:etc/a'])
})
