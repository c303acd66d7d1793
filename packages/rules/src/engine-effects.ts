import type { ContainerConfigField, NodeType } from '@crux/contract'

/** What a setting does on each type of node, for users; null: nothing. */
export const engineEffects: Readonly<Record<ContainerConfigField, Readonly<Record<NodeType, string | null>>>> = {
  name: {
    docker: 'Name of the container, behind the prefix',
    k8s: 'Name of the Deployment or Job and of its Service, in the namespace of the prefix',
  },
  expose: {
    docker: 'Labels for Traefik on the node',
    k8s: "Ingress of the class in the node's settings; refused without one",
  },
  user: { docker: 'User of the process', k8s: 'runAsUser, and fsGroup where it writes to a claim' },
  workingDirectory: { docker: 'Working directory', k8s: 'workingDir' },
  tty: { docker: 'Terminal', k8s: 'tty' },
  configContainer: {
    docker: 'Files of an image are copied into a volume',
    k8s: 'Files of an image are copied into a volume by an init container, once for each release',
  },
  routing: {
    docker: 'Host names, path, upload limit and port for Traefik',
    k8s: 'Rules of the Ingress; upload limit and stripping of the path with the class nginx',
  },
  environment: { docker: 'Environment', k8s: 'ConfigMap, named by its content' },
  secrets: { docker: 'Environment, decrypted on the node', k8s: 'Secret, named by its content' },
  initContainers: { docker: 'Containers that run to their end before', k8s: 'initContainers of the pod' },
  ports: {
    docker: 'External ports are published on the node',
    k8s: 'Ports of the Service: the external one, or the internal one; the machines publish nothing',
  },
  portRanges: { docker: 'Published on the node', k8s: 'Ports of the Service' },
  storage: {
    docker: 'Files of a bucket are copied into a volume',
    k8s: 'Files of a bucket are copied into a volume by an init container, once for each release',
  },
  volumes: {
    docker: 'Folders of the node; mem and tmp in memory',
    k8s: 'PersistentVolumeClaim by type, size and class; mem and tmp as emptyDir, mem in memory',
  },
  commands: { docker: 'Entrypoint', k8s: 'command' },
  args: { docker: 'Command', k8s: 'args' },
  healthCheckConfig: {
    docker: "Probes decide about the start; the command is the engine's health check",
    k8s: 'startupProbe, readinessProbe and livenessProbe; the command as an exec probe',
  },
  resourceConfig: {
    docker: 'Limits, and reserved memory',
    k8s: 'Limits and requests',
  },
  stopGracePeriodSeconds: { docker: 'Time to end', k8s: 'terminationGracePeriodSeconds' },
  expectedState: {
    docker: 'What counts as started: running, waiting, or exited with an exit code',
    k8s: 'running with its timeout, or exited as a Job; waiting is refused',
  },
  capabilities: { docker: 'Added and dropped', k8s: 'Added and dropped' },
  logConfig: { docker: 'Log driver', k8s: null },
  restartPolicy: { docker: 'Restart policy', k8s: null },
  stopSignal: { docker: 'Signal to end', k8s: null },
  networkMode: { docker: 'Network of the container', k8s: null },
  networks: { docker: 'Further networks', k8s: null },
  dockerLabels: { docker: 'Labels of the container', k8s: null },
  portGate: { docker: 'Published ports stay open during a release', k8s: null },
  ulimits: { docker: 'Limits of the process', k8s: null },
  shmSize: { docker: 'Size of /dev/shm', k8s: null },
  extraHosts: { docker: 'Lines of /etc/hosts', k8s: null },
  deploymentStrategy: {
    docker: null,
    k8s: 'rolling or recreate; where a claim has one writer, recreate, and rolling is refused',
  },
  replicas: { docker: null, k8s: 'Number of pods, 0 to 100' },
  customHeaders: {
    docker: null,
    k8s: 'enable-cors of the Ingress with these cors-allow-headers; only with the class nginx',
  },
  proxyHeaders: {
    docker: null,
    k8s: 'enable-cors with the headers of a proxy, and proxy-buffering; only with the class nginx',
  },
  useLoadBalancer: { docker: null, k8s: 'Service of type LoadBalancer; only admins' },
  extraLBAnnotations: { docker: null, k8s: 'Annotations of that Service; only admins' },
  labels: { docker: null, k8s: 'Labels of Deployment, Service and Ingress' },
  annotations: { docker: null, k8s: 'Annotations of Deployment, Service and Ingress, by a list of allowed ones' },
  metrics: { docker: null, k8s: 'ServiceMonitor, where the operator of Prometheus is installed' },
}
