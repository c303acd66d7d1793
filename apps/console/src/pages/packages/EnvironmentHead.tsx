import { Snowflake } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { type Action, ActionMenu } from '../../components/Menu.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import { links } from '../../routing/links.ts'
import type { BoardEnvironment } from './board.ts'
import { useFreezeEnd } from './use-freeze-end.ts'

type Props = { teamSlug: string; packageId: string; environment: BoardEnvironment; actions: readonly Action[] }

/** The head of a column: the environment, its node with the status, its prefix, and whether it is frozen now. */
export function EnvironmentHead({ teamSlug, packageId, environment, actions }: Props) {
  const { t } = useTranslation('packages')
  const { node } = environment
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1 font-normal">
        <TextLink
          {...links.packageEnvironment(teamSlug, packageId, environment.id)}
          className="block truncate text-body font-semibold text-ink!"
          title={environment.name}
        >
          {environment.name}
        </TextLink>
        <span className="flex min-w-0 items-center gap-1.5 text-small text-ink-2">
          <State kind="node" value={node.status} compact />
          <TextLink {...links.node(teamSlug, node.id)} className="truncate text-ink-2!" title={node.name}>
            {node.name}
          </TextLink>
          <code className="truncate" title={environment.prefix}>
            {environment.prefix}
          </code>
        </span>
        <FreezeMark freeze={environment.freeze} />
      </div>
      <ActionMenu size="sm" label={t('environment.actions', { name: environment.name })} actions={actions} />
    </div>
  )
}

/** That nothing may be deployed now, until when, and why. */
function FreezeMark({ freeze }: { freeze: BoardEnvironment['freeze'] }) {
  const getEnd = useFreezeEnd()
  if (!freeze) return null
  return (
    <Tooltip content={freeze.reason}>
      <span className="mt-0.5 flex items-center gap-1.5 text-small text-past">
        <Snowflake aria-hidden className="size-3.5!" />
        <span className="truncate">{getEnd(freeze)}</span>
        <span className="sr-only">{freeze.reason}</span>
      </span>
    </Tooltip>
  )
}
