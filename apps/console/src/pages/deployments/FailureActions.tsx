import type { ResponseOf } from '@crux/contract'
import { RotateCw, SlidersHorizontal, SquareTerminal, Tag, Undo2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { links } from '../../routing/links.ts'
import { instanceLink } from './field-link.ts'
import type { FailureCause } from './release-failure.ts'

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  cause: FailureCause
  /** The instance that it failed for, and what its container is called. */
  instance: { id: string; name: string } | null
  /** Shows the last log lines of the failed container; null if there are none. */
  showLastLines: (() => void) | null
  again: { run: () => void; reason: string | null; busy: boolean }
  rollBack: { number: number; run: () => void; reason: string | null } | null
}

/** What to do after a failure. The main action removes the cause, because the same release would only fail again. */
export function FailureActions({ teamSlug, deployment, cause, instance, showLastLines, again, rollBack }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { project, version } = deployment
  const portPath = cause.kind === 'port' ? portProperty(deployment, instance?.id, cause.port) : undefined
  const field = instance && instanceLink(teamSlug, deployment, instance.id, portPath ?? 'name')
  const leads =
    cause.kind === 'tag'
      ? 'tag'
      : portPath && field
        ? 'field'
        : cause.kind === 'container' && showLastLines
          ? 'lines'
          : 'again'
  const variant = (action: typeof leads) => (leads === action ? 'main' : 'plain')
  return (
    <>
      {showLastLines && (
        <Button variant={variant('lines')} icon={SquareTerminal} onClick={showLastLines}>
          {t('result.lastLines')}
        </Button>
      )}
      {cause.kind === 'tag' && (
        <ButtonLink {...links.version(teamSlug, project.id, version.id, 'images')} variant={variant('tag')} icon={Tag}>
          {t('result.chooseTag')}
        </ButtonLink>
      )}
      {instance && field && cause.kind !== 'tag' && (
        <ButtonLink {...field} variant={variant('field')} icon={SlidersHorizontal}>
          {portPath ? t('result.changePort') : t('result.configure', { name: instance.name })}
        </ButtonLink>
      )}
      {rollBack && (
        <Button icon={Undo2} disabledReason={rollBack.reason} onClick={rollBack.run}>
          {t('result.rollBack', { number: rollBack.number })}
        </Button>
      )}
      <Button
        variant={variant('again')}
        icon={RotateCw}
        busy={again.busy}
        disabledReason={again.reason}
        onClick={again.run}
      >
        {t('action.again')}
      </Button>
    </>
  )
}

/** The field of a published port, whichever layer it comes from: its row is known by the port inside. */
function portProperty(deployment: ResponseOf<'deployments.get'>, instanceId: string | undefined, port: number) {
  const instance = deployment.instances.find(({ id }) => id === instanceId)
  const rows = [...(instance?.config.ports ?? []), ...(instance?.image.config.ports ?? [])]
  const row = rows.find(({ external }) => external === port)
  return row ? `ports.${row.internal}/${row.protocol ?? 'tcp'}.external` : 'ports'
}
