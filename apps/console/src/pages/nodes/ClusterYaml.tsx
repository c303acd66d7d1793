import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { toClusterYaml } from './cluster-yaml.ts'

/** The objects behind a container of a cluster, with a button that copies all of them. */
export function ClusterYaml({ json }: { json: string }) {
  const { t } = useTranslation('nodes')
  const text = useMemo(() => toClusterYaml(json), [json])
  return (
    <div className="relative">
      <CodeBlock text={text} label={t('inspect.yaml')} className="max-h-[75dvh] rounded-b-box" />
      <span className="absolute top-2 right-4">
        <CopyButton text={text} label={t('inspect.copyYaml')} />
      </span>
    </div>
  )
}
