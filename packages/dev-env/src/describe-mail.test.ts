import { expect, it } from 'vitest'
import { describeMail } from './describe-mail.ts'

const mails = { directory: '/data/mails', token: 'shown-once' }
const local = { url: 'http://localhost:8000', host: '127.0.0.1', mails }

it('describeMail reports that addresses count as verified, and where mails are shown, while everything listens on loopback', () => {
  const text = describeMail(undefined, local)
  expect(text).toContain('every address counts as verified')
  expect(text).toContain('http://localhost:8000/mails with the token shown-once')
})

it.each([
  { ...local, host: '0.0.0.0' },
  { ...local, url: 'https://crux.example.com' },
])(
  'describeMail reports that addresses stay unverified and what to set, where others can connect: $host $url',
  (system) => {
    const text = describeMail(undefined, system)
    expect(text).not.toContain('counts as verified')
    expect(text).toContain('stay unverified')
    expect(text).toContain('Set SMTP_URI')
  },
)

it('describeMail names the mail server without its password', () => {
  expect(describeMail('smtp://user:secret@mail.example.com:587', local)).toBe('through mail.example.com:587')
})
