import { useTranslation } from 'react-i18next'
import { FoldedText } from '../../components/FoldedText.tsx'
import { toSentence } from './release-failure.ts'
import { splitReason } from './split-reason.ts'

/** Why a release failed, as one sentence. The original words of a registry or engine are behind "Details". */
export function Reason({ text, names = [] }: { text: string; names?: readonly string[] }) {
  const { t } = useTranslation('deployments')
  const split = splitReason(toSentence(text, names))
  return (
    <>
      <FoldedText text={split.text} lines={3} />
      {split.details && (
        <details className="mt-0.5 text-small font-normal text-ink-2">
          <summary className="w-fit cursor-pointer rounded-sm hover:text-ink">{t('result.details')}</summary>
          <code className="whitespace-pre-line wrap-anywhere">{split.details}</code>
        </details>
      )}
    </>
  )
}
