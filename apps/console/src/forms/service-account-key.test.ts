import { expect, it } from 'vitest'
import { parseServiceAccountKey } from './service-account-key.ts'

const file = {
  type: 'service_account',
  project_id: 'company',
  private_key: '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n',
  client_email: 'reader@company.iam.gserviceaccount.com',
}

it('a key file of a service account has its e-mail address and private key', () => {
  expect(parseServiceAccountKey(JSON.stringify(file))).toEqual({ user: file.client_email, token: file.private_key })
})

it.each([
  ['no JSON', 'MIIE'],
  ['a list', '[]'],
  ['null', 'null'],
  ['the file of a client for users', JSON.stringify({ installed: { client_id: 'x' } })],
  ['a key of another type', JSON.stringify({ ...file, type: 'authorized_user' })],
  ['a file without an address', JSON.stringify({ ...file, client_email: '' })],
  ['a file without a private key', JSON.stringify({ ...file, private_key: 'secret' })],
])('%s is not such a file', (_, text) => {
  expect(parseServiceAccountKey(text)).toBeUndefined()
})
