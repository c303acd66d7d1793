import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { captureMail, listCapturedMails, watchCapturedMails } from './captured-mail.ts'
import { createMailTransport } from './transport.ts'

let directory: string
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'crux-mails-')), 'mails')
})
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }))

const from = { name: 'Crux', address: 'crux@example.com' }
const mail = { to: 'ada@example.com', subject: 'Hello', text: 'a code', html: '<p>a code</p>' }

it('captured mails are stored when no mail server is configured, and listed with the newest first', async () => {
  expect(listCapturedMails(directory)).toEqual([])
  const transport = createMailTransport({ smtpUri: undefined, from, keepIn: directory })
  const { to: recipient, ...rest } = mail
  await transport?.send({ recipient, ...rest })
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(listCapturedMails(directory)[0]?.createdAt ?? ''))
  await transport?.send({ recipient, ...rest, subject: 'Again' })
  expect(listCapturedMails(directory)).toMatchObject([{ ...mail, subject: 'Again' }, mail])
})

it('captured mails cannot be read by other users of the machine', () => {
  captureMail(directory, mail)
  const [file = ''] = readdirSync(directory)
  expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600)
  expect(statSync(directory).mode & 0o777).toBe(0o700)
})

it('captured mails are limited to the last 200', () => {
  for (let count = 0; count < 203; count++) captureMail(directory, { ...mail, subject: String(count) })
  expect(listCapturedMails(directory)).toHaveLength(200)
})

it('captured mails exclude files that are not mails', () => {
  captureMail(directory, mail)
  writeFileSync(join(directory, 'notes.txt'), 'mine')
  writeFileSync(join(directory, `${'1'.repeat(15)}-${'a'.repeat(36)}.json`), '{"no": "mail"}')
  expect(listCapturedMails(directory)).toHaveLength(1)
})

it('captured mails are reported once each', async () => {
  captureMail(directory, mail)
  const onMail = vi.fn()
  const watching = watchCapturedMails(directory, onMail)
  const first = captureMail(directory, { ...mail, subject: 'first' })
  const second = captureMail(directory, { ...mail, subject: 'second' })
  await expect.poll(() => onMail.mock.calls.length).toBe(2)
  expect(onMail.mock.calls.map(([{ id }]) => id).toSorted()).toEqual([first.id, second.id].toSorted())
  watching.stop()
})

it('a transport does not exist without a mail server and a directory', () => {
  expect(createMailTransport({ smtpUri: undefined, from })).toBeUndefined()
})
