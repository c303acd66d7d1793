import type { SourcePosition } from '@crux/compose'
import { ChevronDown, ChevronRight, CircleCheck, CircleX, Plus, ShieldAlert } from 'lucide-react'
import { memo, type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import type { ServiceResult } from '../../composer/compose-result.ts'
import { ProblemLines } from './ComposeProblems.tsx'
import { NotKeptLines } from './NotKeptLines.tsx'
import { Position } from './Position.tsx'
import type { MissingRegistry } from './use-missing-registry.ts'

type Props = {
  service: ServiceResult
  startsOpen: boolean
  missing: MissingRegistry
  /** Whether the user may import settings that reach the node. */
  isAdmin: boolean
  onJump: (position: SourcePosition) => void
}

/** A service as the container that it becomes. Cards outside of the window are not drawn. */
export const ServiceCard = memo(function ServiceCard({ service, startsOpen, missing, isAdmin, onJump }: Props) {
  const { t } = useTranslation('composer')
  const { tag, name, problems, notKept, config } = service
  return (
    <li className="min-w-0 overflow-clip rounded-box border border-line bg-surface [contain-intrinsic-size:auto_120px] [content-visibility:auto]">
      <article aria-label={service.service}>
        <header className="flex flex-wrap items-baseline gap-x-2 gap-y-1 px-3 pt-2.5">
          <h3 className="mono font-strong wrap-anywhere">{config.name ?? service.service}</h3>
          {config.name && config.name !== service.service && <Pill>{t('service.key', { name: service.service })}</Pill>}
          <span className="ml-auto">
            <Position position={service.position} onJump={onJump} />
          </span>
        </header>
        <p className="mono mt-1 px-3 text-ink-2 wrap-anywhere">
          {name}{' '}
          {tag ? <Tag className="break-all">{tag}</Tag> : <span className="text-ink-3">{t('service.noTag')}</span>}
        </p>
        <RegistryLine service={service} missing={missing} />
        <Dangers service={service} isAdmin={isAdmin} />
        {problems.length > 0 && <ProblemLines problems={problems} onJump={onJump} />}
        <Fold title={t('service.notKept', { count: notKept.length })} hidden={notKept.length === 0}>
          <NotKeptLines notKept={notKept} onJump={onJump} />
        </Fold>
        <Fold
          title={t('service.configuration')}
          startsOpen={startsOpen}
          actions={<CopyButton text={service.json} label={t('service.copy', { name: service.service })} />}
        >
          <CodeBlock
            text={service.json}
            label={t('service.configurationLabel', { name: service.service })}
            className="max-h-80 border-t border-line"
          />
        </Fold>
      </article>
    </li>
  )
})

function RegistryLine({ service: { registry, host }, missing }: Pick<Props, 'service' | 'missing'>) {
  const { t } = useTranslation('composer')
  if (registry)
    return (
      <p className="flex items-start gap-2 px-3 pt-1.5 pb-2.5">
        <CircleCheck aria-hidden className="mt-0.5 shrink-0 text-running" />
        <span className="min-w-0 wrap-anywhere">{t('registry.found', { name: registry.name })}</span>
      </p>
    )
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 pt-1.5 pb-2.5">
      <p className="flex min-w-0 flex-1 basis-56 items-start gap-2">
        <CircleX aria-hidden className="mt-0.5 shrink-0 text-failed" />
        <span className="min-w-0 wrap-anywhere">
          {t('registry.missing')}{' '}
          {missing.denied && missing.admins && (
            <span className="text-ink-2">{t('registry.ask', { names: missing.admins })}</span>
          )}
        </span>
      </p>
      <Button
        size="sm"
        icon={Plus}
        busy={missing.isPending(host)}
        disabledReason={missing.denied}
        onClick={() => missing.create(host)}
      >
        {t('registry.create', { host })}
      </Button>
    </div>
  )
}

/** Settings that reach the node: an admin may import them, and others see that before they try. */
function Dangers({ service: { dangers }, isAdmin }: Pick<Props, 'service' | 'isAdmin'>) {
  const { t } = useTranslation('composer')
  if (dangers.length === 0) return null
  return (
    <div className="flex items-start gap-2 px-3 pb-2.5">
      <ShieldAlert aria-hidden className={isAdmin ? 'mt-0.5 shrink-0 text-progress' : 'mt-0.5 shrink-0 text-failed'} />
      <div className="min-w-0 wrap-anywhere">
        <p className="font-strong">{t(isAdmin ? 'dangers.allowed' : 'dangers.denied')}</p>
        <ul>
          {dangers.map(({ property, value, reason }) => (
            <li key={`${property} ${value}`} className="text-ink-2">
              <code className="mono text-ink">{`${property} ${value}`.trim()}</code> {reason}.
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

type FoldProps = {
  title: string
  startsOpen?: boolean
  hidden?: boolean
  actions?: ReactNode
  children: ReactNode
}

function Fold({ title, startsOpen = false, hidden, actions, children }: FoldProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const id = useId()
  const Chevron = isOpen ? ChevronDown : ChevronRight
  if (hidden) return null
  return (
    <div className="border-t border-line">
      <div className="flex min-h-9 items-center gap-2 px-3">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
          className="inline-flex flex-1 items-center gap-1.5 py-1.5 text-left text-ink-2 hover:text-ink"
        >
          <Chevron aria-hidden />
          {title}
        </button>
        {actions}
      </div>
      <div id={id}>{isOpen && children}</div>
    </div>
  )
}
