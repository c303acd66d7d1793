import type { SourcePosition } from '@crux/compose'
import { useTranslation } from 'react-i18next'

type Props = { position: SourcePosition; onJump: (position: SourcePosition) => void }

/** The file and line of a finding, as a button that shows it in the editor. */
export function Position({ position, onJump }: Props) {
  const { t } = useTranslation('composer')
  const { file, line } = position
  return (
    <button
      type="button"
      aria-label={t('problems.jump', { file, line })}
      onClick={() => onJump(position)}
      className="mono text-accent underline-offset-2 hover:underline"
    >
      {`${file}:${line}`}
    </button>
  )
}
