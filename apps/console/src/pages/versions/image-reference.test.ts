import { expect, it } from 'vitest'
import { isImageReference } from './image-reference.ts'

it.each(['nginx', 'nginx:1.27', 'library/nginx:1.27', 'localhost:5000/app', 'localhost:5000/team/app:1.0'])(
  'accepts %s',
  (text) => {
    expect(isImageReference(text)).toBe(true)
  },
)

it.each(['', '  ', 'nginx:', ':1.27', 'nginx:1:2', 'a b', '-v/etc', 'app@sha256:abc', 'team/'])(
  'refuses "%s"',
  (text) => {
    expect(isImageReference(text)).toBe(false)
  },
)
