import { FileCode2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { type ComposerDraft, setText } from '../../composer/composer-draft.ts'
import { exampleCompose, exampleEnv } from '../../composer/example.ts'

type Props = { draft: ComposerDraft; onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void }

/** What to do first on the empty page. */
export function ComposerEmpty({ draft, onChange }: Props) {
  const { t } = useTranslation('composer')
  const useExample = () =>
    onChange((before) => {
      const [base] = before.files
      const [env] = before.envFiles
      const withCompose = base ? setText(before, base.id, exampleCompose) : before
      return env ? setText(withCompose, env.id, exampleEnv) : withCompose
    })
  return (
    <EmptyState
      icon={FileCode2}
      title={t('empty.title')}
      text={t('empty.text', { name: draft.files[0]?.name })}
      action={<Button onClick={useExample}>{t('empty.example')}</Button>}
    />
  )
}
