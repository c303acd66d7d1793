import { generateSecret, listSecretGroups, type SecretGroup, toGroupChanges } from '@crux/config-editor'
import type { TestEnvironment } from '@crux/test-kit'
import { createMessage, encrypt, readKey } from 'openpgp'

/** A group of keys that share a value, and the value in clear text. */
export type GeneratedGroup = Pick<SecretGroup, 'members'> & { value: string }

/** Generates the secrets of a deployment and stores them encrypted for its node, with the code and the requests of the console. */
export async function generateSecrets(
  { teamSlug, user: { client } }: TestEnvironment,
  deploymentId: string,
): Promise<Map<string, GeneratedGroup>> {
  const params = { teamSlug, deploymentId }
  const [deployment, preview] = await Promise.all([
    client.call('deployments.get', { params }),
    client.call('deployments.preview', { params, query: {} }),
  ])
  const groups = listSecretGroups(deployment, preview)
  const publicKey = deployment.publicKey ?? ''
  const encryptionKeys = await readKey({ armoredKey: publicKey })
  const values = new Map(groups.map(({ group }) => [group, generateSecret()]))
  for (const { configId, revision, changes } of toGroupChanges(groups, values)) {
    const secrets = await Promise.all(
      changes.map(async ({ key, row }) => ({
        ...(row?.id && { id: row.id }),
        key,
        required: row?.required ?? false,
        value: String(await encrypt({ message: await createMessage({ text: row?.text ?? '' }), encryptionKeys })),
        encrypted: true,
        publicKey,
      })),
    )
    await client.call('container-configurations.update', {
      params: { teamSlug, configId },
      body: {
        config: { secrets },
        keys: { secrets: changes.map(({ key }) => key) },
        ...(revision !== undefined && { revision }),
      },
    })
  }
  return new Map(groups.map(({ group, members }) => [group, { members, value: values.get(group) ?? '' }]))
}
