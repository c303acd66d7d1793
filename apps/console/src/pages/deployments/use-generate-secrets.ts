import { ApiError } from '@crux/client'
import { type GroupChanges, generateSecret, type SecretGroup, toGroupChanges } from '@crux/config-editor'
import type { ResponseOf } from '@crux/contract'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { sealSecret } from '../../api/seal-secret.ts'
import { describeError, isStatus } from '../../errors/describe-error.ts'

type Deployment = Pick<ResponseOf<'deployments.get'>, 'id' | 'publicKey' | 'instances'>
/** What was generated, with the keys that got each value: in the memory of this page only, until it was shown. */
export type GeneratedValue = { group: string; value: string; keys: string[] }

/**
 * Generates one value per group, encrypts it for the node and stores it in each instance that has a key of the group. The instances are stored one
 * after the other; when one fails, the values are kept, so that another attempt gives the remaining instances the same ones.
 */
export function useGenerateSecrets(teamSlug: string, deployment: Deployment) {
  const { t } = useTranslation('deployments')
  const update = useCall('container-configurations.update', { toast: false })
  const kept = useRef(new Map<string, string>())
  const stored = useRef(new Set<string>())
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [shown, setShown] = useState<GeneratedValue[] | null>(null)

  async function store({ configId, revision, changes }: GroupChanges, publicKey: string) {
    const secrets = await Promise.all(
      changes.map(async ({ key, row }) => ({
        ...(row?.id && { id: row.id }),
        key,
        required: row?.required ?? false,
        value: await sealSecret(publicKey, row?.text ?? ''),
        encrypted: true,
        publicKey,
      })),
    )
    await update.mutateAsync({
      params: { teamSlug, configId },
      body: {
        config: { secrets },
        keys: { secrets: changes.map(({ key }) => key) },
        ...(revision !== undefined && { revision }),
      },
    })
  }

  async function generate(groups: readonly SecretGroup[]) {
    const { publicKey } = deployment
    if (!publicKey || busy) return
    setBusy(true)
    setError(null)
    for (const { group } of groups) if (!kept.current.has(group)) kept.current.set(group, generateSecret())
    try {
      for (const change of toGroupChanges(groups, kept.current)) {
        const left = change.changes.filter(({ key }) => !stored.current.has(`${change.configId} ${key}`))
        if (left.length === 0) continue
        await store({ ...change, changes: left }, publicKey)
        for (const { key } of left) stored.current.add(`${change.configId} ${key}`)
      }
      setShown(groups.map((group) => toGenerated(group, kept.current)))
      forget()
    } catch (failure) {
      // Someone else has set one of the values: these ones must not be mixed with it.
      const isConflict = failure instanceof ApiError && isStatus(failure, 409)
      if (isConflict) forget()
      setError(isConflict ? t('generate.conflict') : t('generate.failed', { reason: describeError(failure).text }))
    } finally {
      await refresh(teamSlug, deployment)
      setBusy(false)
    }
  }

  function forget() {
    kept.current = new Map()
    stored.current = new Set()
  }

  return {
    generate,
    busy,
    error,
    /** Whether the last attempt stored some values, so that another one continues it. */
    isInterrupted: (group: SecretGroup) => kept.current.has(group.group),
    denied: update.denied,
    shown,
    close: () => setShown(null),
  }
}

const toGenerated = ({ group, members }: SecretGroup, values: ReadonlyMap<string, string>): GeneratedValue => ({
  group,
  value: values.get(group) ?? '',
  keys: members.map(({ container, key }) => `${container}: ${key}`),
})

async function refresh(teamSlug: string, { id, instances }: Deployment) {
  const params = { teamSlug, deploymentId: id }
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: queryKey('deployments.get', { params }) }),
    queryClient.invalidateQueries({ queryKey: queryKey('deployments.preview', { params }) }),
    ...instances.map(({ config }) =>
      queryClient.invalidateQueries({
        queryKey: queryKey('container-configurations.get', { params: { teamSlug, configId: config.id } }),
      }),
    ),
  ])
}
