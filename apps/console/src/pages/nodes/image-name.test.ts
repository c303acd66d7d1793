import { expect, test } from 'vitest'
import { imageName } from './image-name.ts'

test('an image is named by its first tag, else by its shortest unambiguous digest or id', () => {
  const id = `sha256:${'ab'.repeat(32)}`
  const byDigest = `localhost:5000/shop/web@sha256:${'cd'.repeat(32)}`
  expect(imageName({ id, references: ['web:1', byDigest, 'web:2'] })).toBe('web:1')
  expect(imageName({ id, references: [byDigest] })).toBe('localhost:5000/shop/web@sha256:cdcdcdcdcdcd')
  expect(imageName({ id, references: [] })).toBe('abababababab')
  expect(imageName({ id: '', references: [] })).toBe('<none>')
})
