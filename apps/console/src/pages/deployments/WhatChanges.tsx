import type { Result } from '@crux/contract'
import { CircleX, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { TextLink } from '../../components/TextLink.tsx'
import type { Preview } from './change-lines.ts'
import { type Problem, problemLink } from './field-link.ts'
import { HostDangers } from './HostDangers.tsx'
import { InstanceChange } from './InstanceChange.tsx'

type Props = {
  preview: Preview
  /** With it each problem and warning leads to the field where it is mended. */
  place?: { teamSlug: string; deployment: Result<'deployments.get'> }
}

/** What a start would do: what has to be settled first, then per container, then what goes and what stays. */
export function WhatChanges({ preview, place }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { instances, problems } = preview
  const changing = instances.filter((instance) => instance.action !== 'keep' || (instance.warnings?.length ?? 0) > 0)
  const kept = instances.filter((instance) => instance.action === 'keep')
  return (
    <div className="divide-y divide-line">
      {problems.length > 0 && (
        <ul aria-label={t('changes.problems')} className="divide-y divide-line">
          {problems.map((problem) => (
            <li
              key={`${problem.property} ${problem.description}`}
              className="flex items-start gap-2 px-3 py-2.5 text-failed"
            >
              <CircleX aria-hidden className="mt-0.5" />
              <span className="min-w-0 break-words">
                {textOf(preview, problem)} <FieldLink place={place} problem={problem} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <HostDangers preview={preview} />
      {changing.map((instance) => (
        <InstanceChange key={instance.instanceId} instance={instance} place={place} />
      ))}
      {preview.removed.map((name) => (
        <p key={name} className="flex items-start gap-2 px-3 py-2.5">
          <Trash2 aria-hidden className="mt-0.5 text-progress" />
          <span className="min-w-0 break-words">{t('changes.removed', { name })}</span>
        </p>
      ))}
      {kept.length > 0 && (
        <p className="px-3 py-2.5 break-words text-ink-2">
          {t('changes.kept', { count: kept.length, names: kept.map((instance) => instance.containerName).join(', ') })}
        </p>
      )}
    </div>
  )
}

function FieldLink({ place, problem }: { place: Props['place']; problem: Problem }) {
  const { t } = useTranslation(['deployments', 'common'])
  const link = place && problemLink(place.teamSlug, place.deployment, problem)
  if (!link) return null
  return (
    <TextLink {...link} inline className="whitespace-nowrap">
      {t('changes.mend')}
    </TextLink>
  )
}

/** Most descriptions name the container themselves. */
function textOf(preview: Preview, { instanceId, description }: Problem): string {
  const name = preview.instances.find((instance) => instance.instanceId === instanceId)?.containerName
  return name && !description.includes(name) ? `${name}: ${description}` : description
}
