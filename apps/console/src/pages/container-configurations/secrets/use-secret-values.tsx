import {
  findAddedSecretProblems,
  findOverwrittenSecrets,
  hasTypedSecrets,
  type KnownSecrets,
  newId,
  noTypedSecrets,
  type Secret,
  secretRows,
  type TypedSecrets,
  toSecretChanges,
  withAddedSecret,
  withoutSentSecrets,
  withSecretPairs,
  withSecretRemoved,
  withSecretValue,
} from '@crux/config-editor'
import { useBlocker } from '@tanstack/react-router'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useChannel } from '../../../api/live.ts'
import { confirm } from '../../../components/confirm.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { useSaveSecrets } from './use-save-secrets.ts'

const none: ReadonlySet<string> = new Set()
const noSecrets: readonly Secret[] = []

type SecretsNode = { node: { name: string }; publicKey?: string | null | undefined }
type Seen = { revision: number | undefined; rows: readonly Secret[] }
type SecretValues = ReturnType<typeof useValues>
const Context = createContext<SecretValues | null>(null)

type SecretValuesProviderProps = { node: SecretsNode | undefined; revision: number | undefined; children: ReactNode }

/** The typed values of a page's secrets: they are kept when the tab changes, and are discarded with the page. */
export function SecretValuesProvider({ node, revision, children }: SecretValuesProviderProps) {
  return <Context.Provider value={useValues(node, revision)}>{children}</Context.Provider>
}

export function useSecretValues(): SecretValues {
  const values = useContext(Context)
  if (!values) throw new Error('Secrets stand inside the page of a configuration')
  return values
}

function useValues(context: SecretsNode | undefined, revision: number | undefined) {
  const { own, parent } = useConfigForm()
  const known = useKnownSecrets()
  const [typed, setTyped] = useState<TypedSecrets>(noTypedSecrets)
  /** The state when typing started: a later change is reported as a conflict once. */
  const [since, setSince] = useState<Seen>()
  const dirty = hasTypedSecrets(typed)
  // The page has the node's key; the list of secrets on the node may arrive later from its agent.
  const node = { name: context?.node.name ?? '', publicKey: known ? known.publicKey : (context?.publicKey ?? null) }

  useLeaveQuestion(dirty)

  const stored = own.secrets ?? noSecrets
  const rows = useMemo(() => secretRows(stored, parent?.secrets ?? [], known), [stored, parent, known])
  const listed = useMemo(() => new Set(rows.map((row) => row.key)), [rows])
  const problems = useMemo(() => findAddedSecretProblems(typed, listed), [typed, listed])

  const others = useMemo(() => findOverwrittenSecrets(typed, since?.rows ?? [], stored), [typed, since, stored])
  const shown = useRef<Seen>({ revision, rows: [] })
  shown.current = { revision, rows: stored }
  const {
    save: saveChanges,
    clearErrors,
    ...state
  } = useSaveSecrets({
    revision: since?.revision,
    onSent: (part) => setTyped((before) => withoutSentSecrets(before, part)),
    // Text that was typed during the save is a change of the stored state.
    onSaved: () => setSince(shown.current),
    // The user now knows of the other change, so the next save overwrites it.
    onConflict: (newest) => setSince({ ...shown.current, revision: newest }),
  })
  // The next save starts from a new state.
  useEffect(() => {
    if (!dirty) setSince(undefined)
  }, [dirty])

  const change = useCallback((next: (before: TypedSecrets) => TypedSecrets) => {
    setSince((before) => before ?? shown.current)
    clearErrors()
    setTyped(next)
  }, [])
  const discard = useCallback(() => {
    setTyped(noTypedSecrets)
    clearErrors()
    setSince(undefined)
  }, [])

  const save = async () => {
    if (!node.publicKey || state.saving || problems.size > 0) return
    await saveChanges(node.publicKey, toSecretChanges(typed, stored))
  }

  return {
    node,
    rows,
    typed,
    dirty,
    ...state,
    problems,
    // The update of this page's save arrives before the response.
    overtaken: state.saving ? none : others,
    setValue: (key: string, value: string | null) => change((before) => withSecretValue(before, key, value)),
    setRemoved: (key: string, remove: boolean) => change((before) => withSecretRemoved(before, key, remove)),
    add: () => {
      const id = newId()
      change((before) => ({ ...before, added: [...before.added, { id, key: '', value: '' }] }))
      return id
    },
    setAdded: (id: string, part: { key?: string; value?: string } | null) =>
      change((before) => withAddedSecret(before, id, part)),
    paste: (pairs: readonly { key: string; value: string }[]) =>
      change((before) => withSecretPairs(before, pairs, listed, newId)),
    save,
    discard,
  }
}

/** What the server knows of the secrets on the node. */
function useKnownSecrets(): KnownSecrets | undefined {
  const { teamSlug, configId } = useConfigForm()
  const [known, setKnown] = useState<KnownSecrets>()
  useChannel(
    'container-configuration',
    { teamSlug, configId },
    {
      ready: (channel) => channel.send('get-config-secrets', {}),
      'config-secrets': ({ keys, publicKey, shared }) =>
        setKnown({ keys, publicKey: publicKey ?? null, shared: shared ?? [] }),
    },
  )
  return known
}

/** Typed values are in the memory of the page only, so leaving it is asked about. */
function useLeaveQuestion(dirty: boolean): void {
  const { t } = useTranslation(['configuration', 'common'])
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
}
