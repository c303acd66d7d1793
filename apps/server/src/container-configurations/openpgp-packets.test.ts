import { createMessage, encrypt, generateKey, readKey } from 'openpgp'
import { describe, expect, it } from 'vitest'
import { keyOne, keyTwo, sealFor } from '../../test/node-keys.ts'
import { listKeyIds, listRecipients } from './openpgp-packets.ts'

describe('the recipients of a message', () => {
  it('are found for messages of every size, by the format of their key', async () => {
    for (const size of [0, 1, 150, 200, 9_000, 70_000, 900_000]) {
      const message = await sealFor(keyOne, 'x'.repeat(size))
      expect(listRecipients(message)).toEqual(listKeyIds(keyOne))
      expect(listRecipients(`\r\n${message.replaceAll('\n', '\r\n')}\n`)).toEqual(listKeyIds(keyOne))
    }
    expect(listKeyIds(keyOne)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)])
    expect(listKeyIds(keyTwo)).not.toEqual(listKeyIds(keyOne))
  })

  it('are those that the library finds, for RSA keys and for several keys at once', async () => {
    const rsa = await generateKey({ type: 'rsa', rsaBits: 2048, userIDs: [{ name: 'r' }], format: 'object' })
    const armored = rsa.publicKey.armor()
    const encryptionKeys = [await readKey({ armoredKey: armored }), await readKey({ armoredKey: keyTwo })]
    const message = String(await encrypt({ message: await createMessage({ text: 's' }), encryptionKeys }))
    const said = await Promise.all(encryptionKeys.map(async (key) => (await key.getEncryptionKey()).getKeyID().toHex()))
    expect(listRecipients(message)).toEqual(said)
    expect([...listKeyIds(armored), ...listKeyIds(keyTwo)]).toEqual(said)
  })

  it('are not found where text is readable, or where anything is beside the message', async () => {
    const message = await sealFor(keyOne, 'hidden')
    const lines = message.trim().split('\n')
    const commented = [lines[0], 'Comment: hunter2', ...lines.slice(1)].join('\n')
    const literal = Buffer.from([0xcb, 9, 0x62, 0, 0, 0, 0, 0, 0x68, 0x69, 0x21])
    const armor = (bytes: Buffer) =>
      `-----BEGIN PGP MESSAGE-----\n\n${bytes.toString('base64')}\n-----END PGP MESSAGE-----`
    const body = Buffer.from(lines.slice(2, -2).join(''), 'base64')
    for (const text of [
      '',
      'hunter2',
      `hunter2 ${message}`,
      `${message}hunter2`,
      commented,
      keyOne,
      armor(literal),
      armor(Buffer.concat([body, literal])),
      armor(Buffer.concat([literal, body])),
      armor(body.subarray(0, -1)),
      armor(Buffer.from('just some words in base64')),
      await sealFor(keyOne, 'x').then((one) => one.replace('MESSAGE-----\n\n', 'MESSAGE-----\n')),
    ])
      expect(listRecipients(text)).toBeUndefined()
    expect(listRecipients(armor(body))).toEqual(listKeyIds(keyOne))
    expect(listKeyIds('key 1')).toEqual([])
  })
})
