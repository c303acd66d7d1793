import { limits, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../api/client.ts'
import { IconButton } from '../components/Button.tsx'
import { Checkbox } from '../components/Checkbox.tsx'
import { ErrorState } from '../components/ErrorState.tsx'
import { Field, Select } from '../components/Field.tsx'
import { moveBy } from './move-by.ts'

type Offered = ResponseOf<'projects.version-chains'>[number]
/** A chain without versions has neither an earliest nor a latest one. */
export type KnownChain = { id: string; project: { id: string; name: string } } & Partial<
  Pick<Offered, 'earliest' | 'latest'>
>

type Props = {
  teamSlug: string
  /** Those of the stored package. */
  known: readonly KnownChain[]
  /** The ids of the chosen chains, in their order. */
  value: readonly string[]
  error: string | undefined
  onChange: (ids: string[]) => void
}

/** The chains of a package: chosen ones in their order, and those of a project to tick. */
export function PackageChains({ teamSlug, known, value, error, onChange }: Props) {
  const { t } = useTranslation('packages')
  // Those that were ticked in this form, so that they keep their name when another project is chosen.
  const [ticked, setTicked] = useState<readonly KnownChain[]>([])
  const all = [...known, ...ticked]
  const remove = (id: string) => onChange(value.filter((other) => other !== id))
  return (
    <Field label={t('form.chains')} help={t('form.chainsHelp')} error={error} group>
      <div className="grid gap-2 rounded-md border border-line p-2">
        {value.length === 0 ? (
          <p className="px-1 text-ink-2">{t('form.noneChosen')}</p>
        ) : (
          <ol aria-label={t('form.chosen')} className="divide-y divide-line">
            {value.map((id, place) => (
              <ChosenChain
                key={id}
                chain={all.find((chain) => chain.id === id)}
                place={place}
                total={value.length}
                onMove={(step) => onChange(moveBy(value, id, step))}
                onRemove={() => remove(id)}
              />
            ))}
          </ol>
        )}
        <ProjectChains
          teamSlug={teamSlug}
          value={value}
          onTick={(chain) => {
            setTicked((before) => [...before, chain])
            onChange([...value, chain.id])
          }}
          onUntick={remove}
        />
      </div>
    </Field>
  )
}

type ChosenProps = {
  chain: KnownChain | undefined
  place: number
  total: number
  onMove: (step: -1 | 1) => void
  onRemove: () => void
}

function ChosenChain({ chain, place, total, onMove, onRemove }: ChosenProps) {
  const { t } = useTranslation('packages')
  const name = chain?.project.name ?? ''
  return (
    <li className="flex min-h-9 items-center gap-2 py-1 pl-1">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-strong" title={name}>
          {name}
        </span>
        <span className="block truncate text-small text-ink-2">
          {chain?.earliest && chain.latest ? <ChainRange {...chain} /> : t('form.emptied')}
        </span>
      </span>
      <span className="flex shrink-0">
        <IconButton
          size="sm"
          icon={ArrowUp}
          label={t('form.moveUp', { name })}
          disabledReason={place === 0 && t('form.isFirst')}
          onClick={() => onMove(-1)}
        />
        <IconButton
          size="sm"
          icon={ArrowDown}
          label={t('form.moveDown', { name })}
          disabledReason={place === total - 1 && t('form.isLast')}
          onClick={() => onMove(1)}
        />
        <IconButton size="sm" icon={X} label={t('form.remove', { name })} onClick={onRemove} />
      </span>
    </li>
  )
}

type ProjectChainsProps = {
  teamSlug: string
  value: readonly string[]
  onTick: (chain: KnownChain) => void
  onUntick: (id: string) => void
}

/** A versioned project to choose, and its chains to tick. */
function ProjectChains({ teamSlug, value, onTick, onUntick }: ProjectChainsProps) {
  const { t } = useTranslation(['packages', 'common'])
  const [projectId, setProjectId] = useState('')
  const projects = useQuery(apiQuery('projects.list', { params: { teamSlug } }))
  const versioned = projects.data?.filter(({ type }) => type === 'versioned') ?? []
  const project = versioned.find(({ id }) => id === projectId)
  const chains = useQuery({
    ...apiQuery('projects.version-chains', { params: { teamSlug, projectId: projectId || '-' } }),
    enabled: projectId !== '',
  })
  const id = useId()
  const isFull = value.length >= limits.packageChains
  return (
    <div className="grid gap-1.5 border-t border-line pt-2">
      <Field
        label={t('form.project')}
        help={
          projects.data && versioned.length === 0
            ? t('form.noProject')
            : isFull
              ? t('form.full', { count: limits.packageChains })
              : undefined
        }
      >
        <Select
          value={projectId}
          none={projects.isPending ? t('common:loading') : t('form.chooseProject')}
          options={versioned.map((one) => ({ value: one.id, label: one.name }))}
          onChange={(event) => setProjectId(event.target.value)}
        />
      </Field>
      {chains.isError && <ErrorState error={chains.error} retry={() => void chains.refetch()} />}
      {project && chains.data?.length === 0 && (
        <p className="text-small text-ink-2">{t('form.noChain', { project: project.name })}</p>
      )}
      {project && chains.data && chains.data.length > 0 && (
        <ul aria-label={t('form.offered', { project: project.name })} className="grid">
          {chains.data.map((chain) => {
            const isChosen = value.includes(chain.id)
            return (
              <li key={chain.id} className="flex min-h-8 items-center gap-2 px-1">
                <Checkbox
                  id={`${id}-${chain.id}`}
                  checked={isChosen}
                  disabled={isFull && !isChosen}
                  onChange={(checked) =>
                    checked ? onTick({ ...chain, project: { id: project.id, name: project.name } }) : onUntick(chain.id)
                  }
                />
                <label htmlFor={`${id}-${chain.id}`} className="min-w-0 flex-1 truncate py-1">
                  <ChainRange {...chain} />
                </label>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}

/** "1.0.0 ... 1.3.0", or the name alone where there is one version. */
function ChainRange({ earliest, latest }: Partial<Pick<Offered, 'earliest' | 'latest'>>) {
  if (!earliest || !latest) return null
  return <code>{earliest.id === latest.id ? earliest.name : `${earliest.name} ... ${latest.name}`}</code>
}
