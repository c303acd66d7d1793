import type { DeploymentDrift, ResponseOf } from '@crux/contract'
import { CircleAlert, Undo2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { useDrift } from './use-drift.ts'

type DriftedObject = DeploymentDrift['objects'][number]
type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  isConnected: boolean
  putting: boolean
  /** Why it cannot be put back now. */
  denied: string | null
  onPutBack: (release: number) => void
}

const objectsMax = 20
const fieldsMax = 10

/** What differs in the cluster from the release that runs. There is nothing while nothing differs. */
export function DriftBox({ teamSlug, deployment, isConnected, putting, denied, onPutBack }: Props) {
  const { t } = useTranslation('deployments')
  const { drift, problem } = useDrift(teamSlug, deployment, isConnected)
  if (problem !== undefined)
    return <p className="mb-4 wrap-anywhere text-small text-ink-2">{t('drift.unchecked', { reason: problem })}</p>
  if (!drift) return null
  const { objects, release } = drift
  const isForeign = objects.some(({ change }) => change === 'foreign')
  const ask = async () => {
    const sure = await confirm({
      title: t('drift.confirmTitle', { number: release }),
      text: t('drift.confirmText'),
      action: t('drift.putBack'),
    })
    if (sure) onPutBack(release)
  }
  return (
    <Box
      className="mb-4"
      label={t('drift.title')}
      title={
        <span className="flex items-center gap-2">
          <CircleAlert aria-hidden className="text-progress" />
          {t('drift.title')}
        </span>
      }
      trailing={t('drift.against', { number: release })}
      actions={
        <Button
          size="sm"
          icon={Undo2}
          busy={putting}
          disabledReason={denied ?? (isForeign ? t('drift.foreignFirst') : null)}
          onClick={() => void ask()}
        >
          {t('drift.putBack')}
        </Button>
      }
    >
      <ul aria-label={t('drift.title')} className="divide-y divide-line">
        {objects.slice(0, objectsMax).map((object) => (
          <ObjectDrift key={`${object.kind}/${object.name}`} object={object} />
        ))}
      </ul>
      {objects.length > objectsMax && (
        <p className="border-t border-line px-3 py-2.5 text-ink-2">
          {t('drift.moreObjects', { count: objects.length - objectsMax })}
        </p>
      )}
    </Box>
  )
}

function ObjectDrift({ object }: { object: DriftedObject }) {
  const { t } = useTranslation('deployments')
  const { change, containerName, fields, kind, name } = object
  return (
    <li className="grid gap-1.5 px-3 py-2.5">
      <p className="wrap-anywhere">
        <b className="font-strong">
          {kind} <code>{name}</code>
        </b>{' '}
        <span className="text-ink-2">
          {containerName && containerName !== name && `${t('drift.of', { name: containerName })} `}
          {t(`drift.change.${change}`)}
        </span>
      </p>
      {fields.length > 0 && (
        <dl className="grid gap-1.5">
          {fields.slice(0, fieldsMax).map((field) => (
            <FieldDrift key={field.path} field={field} />
          ))}
        </dl>
      )}
      {fields.length > fieldsMax && (
        <p className="text-small text-ink-2">{t('drift.moreFields', { count: fields.length - fieldsMax })}</p>
      )}
    </li>
  )
}

function FieldDrift({ field: { found, path, secret, wanted } }: { field: DriftedObject['fields'][number] }) {
  const { t } = useTranslation('deployments')
  const toShown = (value: string | null | undefined) =>
    value == null ? <span className="text-ink-2">{t('drift.nothing')}</span> : <code>{value}</code>
  return (
    <div className="grid gap-x-4 wrap-anywhere md:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
      <dt>
        <code className="text-ink-2">{path}</code>
      </dt>
      {secret ? (
        <dd>{t('drift.secret')}</dd>
      ) : (
        <dd className="grid gap-x-4 md:grid-cols-2">
          <span className="whitespace-pre-wrap">
            <span className="text-small text-ink-2">{t('drift.wanted')}</span> {toShown(wanted)}
          </span>
          <span className="whitespace-pre-wrap">
            <span className="text-small text-ink-2">{t('drift.found')}</span> {toShown(found)}
          </span>
        </dd>
      )}
    </div>
  )
}
