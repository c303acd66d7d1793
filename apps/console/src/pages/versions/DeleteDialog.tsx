import type { ResponseOf } from '@crux/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { isTypedName } from '../../components/typed-name.ts'
import { links } from '../../routing/links.ts'

type Running = ResponseOf<'projects.running'>
type Props = {
  teamSlug: string
  title: string
  text: string
  /** Has to be typed. */
  name: string
  /** The verb of the button; with the containers, the other one. */
  action: string
  running: UseQueryResult<Running>
  /** Whether the project has versions whose names say something. */
  hasVersions: boolean
  busy: boolean
  denied: string | null
  onClose: () => void
  onDelete: (containers: boolean) => void
}

/** Deletes a project or a version: shows its running containers, and asks whether to delete them too. */
export function DeleteDialog({
  teamSlug,
  title,
  text,
  name,
  action,
  running,
  hasVersions,
  busy,
  denied,
  onClose,
  onDelete,
}: Props) {
  const { t } = useTranslation(['projects', 'common'])
  const [typed, setTyped] = useState('')
  const [wanted, setWanted] = useState(false)
  const form = useId()
  const away = [
    ...new Set(running.data?.filter(({ node }) => node.status !== 'connected').map(({ node }) => node.name)),
  ]
  const containers = wanted && away.length === 0 && (running.data?.length ?? 0) > 0
  const ready = isTypedName(typed, name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (ready && running.data && !busy && !denied) onDelete(containers)
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={text}
      width="wide:w-[560px]"
      initialFocus={(content) => content.querySelector('input')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            type="submit"
            form={form}
            variant="bad-main"
            busy={busy || running.isPending}
            disabledReason={denied ?? (ready ? null : t('common:confirm.typeFirst', { name }))}
          >
            {containers ? t('remove.withContainers', { action }) : action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="grid gap-4">
        {running.data ? (
          <RunningList
            teamSlug={teamSlug}
            hasVersions={hasVersions}
            running={running.data}
            away={away}
            wanted={wanted}
            onWanted={setWanted}
          />
        ) : running.isError ? (
          <ErrorState error={running.error} retry={() => void running.refetch()} />
        ) : (
          <SkeletonRows rows={1} />
        )}
        <Field label={t('common:confirm.type', { name })}>
          <TextInput mono autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </Field>
      </form>
    </Dialog>
  )
}

type ListProps = {
  teamSlug: string
  hasVersions: boolean
  running: Running
  /** Names of nodes that are not connected. */
  away: readonly string[]
  wanted: boolean
  onWanted: (wanted: boolean) => void
}

function RunningList({ teamSlug, hasVersions, running, away, wanted, onWanted }: ListProps) {
  const { t } = useTranslation('projects')
  const id = useId()
  if (running.length === 0) return <p className="text-ink-2">{t('remove.nothingRuns')}</p>
  const names = away.join(', ')
  return (
    <div className="grid gap-3">
      <ul
        aria-label={t('remove.running')}
        className="max-h-48 divide-y divide-line overflow-y-auto rounded-box border border-line"
      >
        {running.map(({ node, prefix, versionName, containers }) => (
          <li key={`${node.id} ${prefix}`} className="px-3 py-2">
            <span className="flex flex-wrap items-baseline gap-x-2">
              <TextLink {...links.node(teamSlug, node.id, { section: 'containers', prefix })} strong>
                {node.name}
              </TextLink>
              <span className="text-ink-2">
                {t(hasVersions ? 'remove.target' : 'remove.targetPrefix', { prefix, version: versionName })}
                {node.status !== 'connected' && ` · ${t('remove.away')}`}
              </span>
            </span>
            <span className="mono block text-small wrap-anywhere text-ink-2">{containers.join(', ')}</span>
          </li>
        ))}
      </ul>
      <label htmlFor={id} className="flex items-start gap-2">
        <span className="pt-0.5">
          <Checkbox id={id} checked={wanted && away.length === 0} disabled={away.length > 0} onChange={onWanted} />
        </span>
        <span>
          {t('remove.containers', { count: running.reduce((sum, { containers }) => sum + containers.length, 0) })}
          <span className="block text-small text-ink-2">
            {away.length > 0
              ? t('remove.unreachable', { count: away.length, names })
              : t(wanted ? 'remove.lost' : 'remove.stay')}
          </span>
          {away.length > 0 && <span className="block text-small text-ink-2">{t('remove.stay')}</span>}
        </span>
      </label>
    </div>
  )
}
