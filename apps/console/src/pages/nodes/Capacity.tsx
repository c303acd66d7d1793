import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { ProgressBar } from '../../components/ProgressBar.tsx'
import { amountText, partText, type ResourceName, toShare } from './capacity.ts'

type Props = {
  name: ResourceName
  allocatable: number
  /** Null where it is not known. */
  requested: number | null
  /** Of a machine, or of the cluster. */
  owner: string
  className?: string
  /** Its name, where no header has it. */
  children?: ReactNode
}

/** From here on a machine takes few more pods. */
const nearlyFull = 0.9

/** How much of something is requested, as a bar with its numbers. */
export function Capacity({ name, allocatable, requested, owner, className, children }: Props) {
  const { t } = useTranslation('nodes')
  if (requested === null)
    return (
      <span className="tabular-nums">
        {children} {amountText(name, allocatable)}
      </span>
    )
  const share = toShare(requested, allocatable)
  return (
    <span className={cx('grid gap-1', className)}>
      {children}
      <span className="text-small whitespace-nowrap text-ink-2 tabular-nums">
        {partText(name, requested, allocatable)}
      </span>
      <ProgressBar
        value={share}
        label={t('machines.requestedShare', { resource: t(`machines.resource.${name}`), name: owner })}
        tone={share >= nearlyFull ? 'progress' : 'accent'}
      />
    </span>
  )
}
