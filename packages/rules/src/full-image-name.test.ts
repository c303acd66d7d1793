import { expect, test } from 'vitest'
import { parseFullImageName } from './full-image-name.ts'

const digest = `sha256:${'0a'.repeat(32)}`

test.each([
  ['nginx', 'docker.io/library/nginx', null],
  ['nginx:1.29', 'docker.io/library/nginx', '1.29'],
  [' grafana/loki:3.5.0 ', 'docker.io/grafana/loki', '3.5.0'],
  ['docker.io/nginx', 'docker.io/library/nginx', null],
  ['index.docker.io/acme/web:a', 'docker.io/acme/web', 'a'],
  ['localhost/web', 'localhost/web', null],
  ['localhost:5000/web:1', 'localhost:5000/web', '1'],
  ['[::1]:5000/web', '[::1]:5000/web', null],
  ['ghcr.io/acme/web:v1', 'ghcr.io/acme/web', 'v1'],
  [`nginx@${digest}`, 'docker.io/library/nginx', digest],
  [`registry.example.com:5000/a/b:1.2@${digest}`, 'registry.example.com:5000/a/b', `1.2@${digest}`],
])('reads %s', (text, name, tag) => {
  expect(parseFullImageName(text)).toEqual({ ok: true, image: { name, tag } })
})

test.each([
  '',
  'Nginx',
  'nginx:',
  'nginx:a b',
  'nginx@sha256:12',
  'nginx@',
  '-nginx',
  'a//b',
  'https://ghcr.io/a/b',
  `sha256:${'0a'.repeat(32)}`,
  'a'.repeat(256),
])('rejects "%s" with a reason', (text) => {
  expect(parseFullImageName(text)).toEqual({ ok: false, problem: expect.stringMatching(/\w/) })
})
