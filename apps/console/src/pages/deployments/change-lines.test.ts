import { expect, it } from 'vitest'
import { changeLines } from './change-lines.ts'

it('formats changes as a diff that names each setting once', () => {
  expect(
    changeLines([
      { property: 'tag', from: '2.13.2', to: '2.14.0' },
      { property: 'digest', from: `sha256:${'a'.repeat(64)}`, to: `sha256:${'b'.repeat(64)}` },
      { property: 'digest.r.example.com:5000/tool:1.36', from: `sha256:${'c'.repeat(64)}`, to: null },
      { property: 'environment.LOG_LEVEL', from: 'info', to: 'debug' },
      { property: 'ports.80/tcp', to: '8080:80' },
      { property: 'dockerLabels.team', from: 'a' },
    ]),
  ).toEqual([
    { sign: '-', text: 'tag 2.13.2' },
    { sign: '+', text: 'tag 2.14.0' },
    { sign: '-', text: 'digest sha256:aaaaaaaaaaaa' },
    { sign: '+', text: 'digest sha256:bbbbbbbbbbbb' },
    { sign: '-', text: 'r.example.com:5000/tool:1.36 sha256:cccccccccccc' },
    { sign: '-', text: 'LOG_LEVEL=info' },
    { sign: '+', text: 'LOG_LEVEL=debug' },
    { sign: '+', text: 'ports 8080:80' },
    { sign: '-', text: 'dockerLabels team=a' },
  ])
})
