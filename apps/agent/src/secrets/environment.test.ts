import { expect, test } from 'vitest'
import { openSecrets } from './environment.ts'

const open = (key: string, text: string) =>
  openSecrets(
    async () => text,
    [
      {
        instanceId: 'one',
        config: { secrets: [{ key, value: 'encrypted', required: true }] },
        base: { environment: {} },
      },
    ],
  )

test('a secret that no program could get as a variable is refused before anything changes, without its value', async () => {
  expect((await open('KEY', 'y'.repeat(131_067))).get('one')?.KEY).toHaveLength(131_067)
  const message = 'the secret KEY is too large for a variable: with its name it may have 131071 bytes'
  await expect(open('KEY', 'y'.repeat(131_068))).rejects.toThrow(message)
  await expect(open('KEY', '€'.repeat(50_000))).rejects.toThrow(message)
})
