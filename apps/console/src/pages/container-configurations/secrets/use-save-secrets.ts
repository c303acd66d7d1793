import { ApiError } from '@crux/client'
import type { SecretChange } from '@crux/config-editor'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { useCall } from '../../../api/client.ts'
import { sealSecret } from '../../../api/seal-secret.ts'
import { toastSuccess } from '../../../components/toasts.tsx'
import { describeError } from '../../../errors/describe-error.ts'
import { useConfigForm } from '../form/config-context.ts'

/** A patch names at most so many keys. */
const keysAtOnce = 100

type Options = {
  /** The revision that the changes were made on. */
  revision: number | undefined
  /** These changes are stored. */
  onSent: (part: readonly SecretChange[]) => void
  onSaved: () => void
  /** Another user changed some of the keys: the newest revision of that. */
  onConflict: (revision: number) => void
}

/** Encrypts changes for the node and saves them in parts. An error is at the key that it names, or at '' for the whole list. */
export function useSaveSecrets({ revision, onSent, onSaved, onConflict }: Options) {
  const { t } = useTranslation('configuration')
  const { teamSlug, configId } = useConfigForm()
  const [saving, setSaving] = useState(false)
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map())
  const update = useCall('container-configurations.update', { toast: false })

  async function send(part: readonly SecretChange[], publicKey: string) {
    const sealed = await Promise.all(part.flatMap(({ key, row }) => (row ? [sealedRow(publicKey, key, row)] : [])))
    await update.mutateAsync({
      params: { teamSlug, configId },
      body: {
        config: { secrets: sealed },
        keys: { secrets: part.map(({ key }) => key) },
        ...(revision !== undefined && { revision }),
      },
    })
  }

  async function save(publicKey: string, changes: readonly SecretChange[]) {
    setSaving(true)
    setErrors(new Map())
    let left = changes
    try {
      while (left.length > 0) {
        const part = left.slice(0, keysAtOnce)
        await send(part, publicKey)
        onSent(part)
        left = left.slice(keysAtOnce)
      }
      onSaved()
      toastSuccess(t('secrets.saved'))
    } catch (error) {
      const conflict = error instanceof ApiError ? toConflict(error.value) : null
      setErrors(conflict ? new Map(conflict.keys.map((key) => [key, t('secrets.conflict')])) : errorsByKey(error, left))
      if (conflict) onConflict(conflict.revision)
    } finally {
      setSaving(false)
    }
  }

  return { save, saving, denied: update.denied, errors, clearErrors: () => setErrors(new Map()) }
}

const sealedRow = async (publicKey: string, key: string, { text, ...row }: NonNullable<SecretChange['row']>) =>
  text === '' ? { ...row, key } : { ...row, key, value: await sealSecret(publicKey, text), encrypted: true, publicKey }

const conflictValue = z.object({ conflicts: z.array(z.object({ property: z.string() })), revision: z.number() })

/** Which keys another user changed, and the newest revision of these changes. */
function toConflict(value: unknown): { keys: string[]; revision: number } | null {
  const found = conflictValue.safeParse(value).data
  return found
    ? { keys: found.conflicts.map(({ property }) => property.replace(/^secrets\./, '')), revision: found.revision }
    : null
}

/** The server's error at its key, or at '' for the whole list. */
function errorsByKey(error: unknown, sent: readonly SecretChange[]): ReadonlyMap<string, string> {
  const rows = sent.filter((change) => change.row).slice(0, keysAtOnce)
  const found = (error instanceof ApiError ? error.details : []).flatMap(
    ({ property, description }): [string, string][] => {
      const index = /^config\.secrets\[(\d+)\]/.exec(property ?? '')?.[1]
      const key = index === undefined ? undefined : rows[Number(index)]?.key
      return key === undefined ? [] : [[key, description]]
    },
  )
  return new Map(found.length > 0 ? found : [['', describeError(error).text]])
}
