import type { ApiError } from '@crux/client'
import {
  findAddedSecretProblems,
  findOverwrittenSecrets,
  hasTypedSecrets,
  type KnownSecrets,
  newId,
  noTypedSecrets,
  type Secret,
  type SecretChange,
  secretRows,
  type TypedSecrets,
  toSecretChanges,
  withoutSentSecrets,
  withSecretPairs,
} from '@crux/config-editor'
import { useBlocker } from '@tanstack/react-router'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useCall } from '../../../api/client.ts'
import { useChannel } from '../../../api/live.ts'
import { confirm } from '../../../components/confirm.tsx'
import { toastSuccess } from '../../../components/toasts.tsx'
import { describeError } from '../../../errors/describe-error.ts'
import { useConfigForm } from '../form/config-context.ts'
import { sealSecret } from './seal-secret.ts'

const none: ReadonlySet<string> = new Set()
/** A patch names at most so many keys. */
const keysAtOnce = 100

type Context = { node: { name: string }; publicKey?: string | null | undefined }
type Seen = { revision: number | undefined; rows: readonly Secret[] }
type SecretValues = ReturnType<typeof useValues>
const Context = createContext<SecretValues | null>(null)

/** The typed values of a page's secrets: they are kept when the tab changes, and are discarded with the page. */
export function SecretValuesProvider({
  node,
  revision,
  children,
}: {
  node: Context | undefined
  revision: number | undefined
  children: ReactNode
}) {
  return <Context.Provider value={useValues(node, revision)}>{children}</Context.Provider>
}

export function useSecretValues(): SecretValues {
  const values = useContext(Context)
  if (!values) throw new Error('Secrets stand inside the page of a configuration')
  return values
}

function useValues(context: Context | undefined, revision: number | undefined) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug, configId, own, parent } = useConfigForm()
  const [known, setKnown] = useState<KnownSecrets>()
  const [typed, setTyped] = useState<TypedSecrets>(noTypedSecrets)
  /** The state when typing started: a later change is reported as a conflict once. */
  const [since, setSince] = useState<Seen>()
  const [saving, setSaving] = useState(false)
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map())
  const update = useCall('container-configurations.update', { toast: false })
  const dirty = hasTypedSecrets(typed)
  // The page has the node's key; the list of secrets on the node may arrive later from its agent.
  const node = { name: context?.node.name ?? '', publicKey: known ? known.publicKey : (context?.publicKey ?? null) }

  useChannel(
    'container-configuration',
    { teamSlug, configId },
    {
      ready: (channel) => channel.send('get-config-secrets', {}),
      'config-secrets': ({ keys, publicKey, shared }) =>
        setKnown({ keys, publicKey: publicKey ?? null, shared: shared ?? [] }),
    },
  )
  useBlocker({
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname &&
      !(await confirm({
        title: t('secrets.leaveTitle'),
        text: t('secrets.leaveText'),
        action: t('common:form.leave'),
        danger: true,
      })),
    enableBeforeUnload: dirty,
    disabled: !dirty,
  })

  const stored = own.secrets
  const rows = useMemo(() => secretRows(stored ?? [], parent?.secrets ?? [], known), [stored, parent, known])
  const listed = useMemo(() => new Set(rows.map((row) => row.key)), [rows])
  const problems = useMemo(() => findAddedSecretProblems(typed, listed), [typed, listed])

  const others = useMemo(() => findOverwrittenSecrets(typed, since?.rows ?? [], stored ?? []), [typed, since, stored])
  const shown = useRef<Seen>({ revision, rows: [] })
  shown.current = { revision, rows: stored ?? [] }
  // The next save starts from a new state.
  useEffect(() => {
    if (!dirty) setSince(undefined)
  }, [dirty])

  const change = useCallback((next: (before: TypedSecrets) => TypedSecrets) => {
    setSince((before) => before ?? shown.current)
    setErrors(new Map())
    setTyped(next)
  }, [])
  const discard = useCallback(() => {
    setTyped(noTypedSecrets)
    setErrors(new Map())
    setSince(undefined)
  }, [])

  async function save() {
    const { publicKey } = node
    if (!publicKey || saving || problems.size > 0) return
    setSaving(true)
    setErrors(new Map())
    let left = toSecretChanges(typed, stored ?? [])
    try {
      while (left.length > 0) {
        const part = left.slice(0, keysAtOnce)
        await send(part, publicKey)
        setTyped((before) => withoutSentSecrets(before, part))
        left = left.slice(keysAtOnce)
      }
      // Text that was typed during the save is a change of the stored state.
      setSince(shown.current)
      toastSuccess(t('secrets.saved'))
    } catch (error) {
      const { value } = error as ApiError
      const conflict = conflictOf(value)
      setErrors(
        conflict
          ? new Map(conflict.keys.map((key) => [key, t('secrets.conflict')]))
          : errorsOf(error as ApiError, left),
      )
      // The user now knows of the other change, so the next save overwrites it.
      if (conflict) setSince({ ...shown.current, revision: conflict.revision })
    } finally {
      setSaving(false)
    }
  }

  async function send(part: readonly SecretChange[], publicKey: string) {
    const sealed = await Promise.all(part.flatMap(({ key, row }) => (row ? [sealedRow(publicKey, key, row)] : [])))
    await update.mutateAsync({
      params: { teamSlug, configId },
      body: {
        config: { secrets: sealed },
        keys: { secrets: part.map(({ key }) => key) },
        ...(since?.revision !== undefined && { revision: since.revision }),
      },
    })
  }

  return {
    node,
    rows,
    typed,
    dirty,
    saving,
    denied: update.denied,
    problems,
    errors,
    // The update of this page's save arrives before the response.
    overtaken: saving ? none : others,
    setValue: (key: string, value: string | null) =>
      change((before) => {
        const values = new Map(before.values)
        if (value === null) values.delete(key)
        else values.set(key, value)
        const removed = new Set(before.removed)
        removed.delete(key)
        return { ...before, values, removed }
      }),
    setRemoved: (key: string, remove: boolean) =>
      change((before) => {
        const [values, removed] = [new Map(before.values), new Set(before.removed)]
        values.delete(key)
        if (remove) removed.add(key)
        else removed.delete(key)
        return { ...before, values, removed }
      }),
    add: () => {
      const id = newId()
      change((before) => ({ ...before, added: [...before.added, { id, key: '', value: '' }] }))
      return id
    },
    setAdded: (id: string, part: { key?: string; value?: string } | null) =>
      change((before) => ({
        ...before,
        added: part
          ? before.added.map((row) => (row.id === id ? { ...row, ...part } : row))
          : before.added.filter((row) => row.id !== id),
      })),
    paste: (pairs: readonly { key: string; value: string }[]) =>
      change((before) => withSecretPairs(before, pairs, listed, newId)),
    save,
    discard,
  }
}

const sealedRow = async (publicKey: string, key: string, { text, ...row }: NonNullable<SecretChange['row']>) =>
  text === '' ? { ...row, key } : { ...row, key, value: await sealSecret(publicKey, text), encrypted: true, publicKey }

/** Which keys another user changed, and the newest revision of these changes. */
function conflictOf(value: unknown): { keys: string[]; revision: number } | null {
  const { conflicts, revision } = (value ?? {}) as { conflicts?: { property: string }[]; revision?: number }
  if (!conflicts || revision === undefined) return null
  return { keys: conflicts.map(({ property }) => property.replace(/^secrets\./, '')), revision }
}

/** The server's error at its key, or at '' for the whole list. */
function errorsOf(error: ApiError, sent: readonly SecretChange[]): ReadonlyMap<string, string> {
  const rows = sent.filter((change) => change.row).slice(0, keysAtOnce)
  const found = (error.details ?? []).flatMap(({ property, description }): [string, string][] => {
    const index = /^config\.secrets\[(\d+)\]/.exec(property ?? '')?.[1]
    const key = index === undefined ? undefined : rows[Number(index)]?.key
    return key === undefined ? [] : [[key, description]]
  })
  return new Map(found.length > 0 ? found : [['', describeError(error).text]])
}
