import { agentLabel, imageUrl, type ScriptValues, traefikImage } from './install-values.ts'
import { commentText, powershellLiteral } from './shell-quoting.ts'

/**
 * Installs the agent on Docker Desktop for Windows, with Windows PowerShell 5.1 and later. The whole script is a
 * function that the last line calls.
 */
export function powershellScript(values: ScriptValues): string {
  return `# Installs the Crux agent for the node ${commentText(values.nodeName)}.
# Variables: $env:PERSISTENCE_FOLDER, $env:CRI_EXECUTABLE, $env:HOST_DOCKER_SOCK_PATH, $env:ROOT_DOMAIN, $env:CRUX_INSECURE, $env:CRUX_CA_FILE
$ErrorActionPreference = 'Stop'

function Install-CruxAgent {
  $cruxUrl = ${powershellLiteral(values.url)}
  $cruxNodeId = ${powershellLiteral(values.nodeId)}
  $cruxToken = ${powershellLiteral(values.token)}
  $imageUrl = ${powershellLiteral(imageUrl(values))}
  $pullImage = ${powershellLiteral(values.agentImage ?? '')}
  $containerName = ${powershellLiteral(values.containerName)}
  $wantedFolder = ${powershellLiteral(values.rootPath ?? '')}
  $acmeEmail = ${powershellLiteral(values.acmeEmail ?? '')}
  $plaintext = ${powershellLiteral(values.plaintext ? 'true' : '')}
  $desktopUrl = ${powershellLiteral(values.desktopUrl ?? '')}
  $label = ${powershellLiteral(`${agentLabel.name}=${agentLabel.value}`)}
  $traefikImage = ${powershellLiteral(traefikImage)}
${body}`
}

const body = `
  # Windows PowerShell takes whatever a program writes to a redirected stderr for an error that ends the script.
  function Test-Engine {
    $ErrorActionPreference = 'Continue'
    & $engine @args *> $null
    return $LASTEXITCODE -eq 0
  }

  $engine = $env:CRI_EXECUTABLE
  if (-not $engine) {
    if (Get-Command docker -ErrorAction SilentlyContinue) { $engine = 'docker' }
    elseif (Get-Command podman -ErrorAction SilentlyContinue) { $engine = 'podman' }
    else { throw 'crux: neither docker nor podman is installed' }
  }
  $insecure = $env:CRUX_INSECURE
  if ($plaintext -and $insecure -ne 'true') {
    throw "crux: $cruxUrl would get the token in plain text: put TLS before it, or set CRUX_INSECURE to true"
  }
  $agentUrl = $cruxUrl
  if ($desktopUrl) { $agentUrl = $desktopUrl; $insecure = 'true' }
  if (-not (Test-Engine version)) { throw "crux: $engine does not answer: is it running?" }

  $socket = $env:HOST_DOCKER_SOCK_PATH
  if (-not $socket) { $socket = '/var/run/docker.sock' }

  $folder = $env:PERSISTENCE_FOLDER
  if (-not $folder) { $folder = $wantedFolder }
  if (-not $folder) { $folder = 'C:/.crux' }
  $folder = $folder -replace '\\\\', '/'
  if ($folder -notmatch '^[A-Za-z]:/[^:,]*$') { throw "crux: $folder is not an absolute path such as C:/crux" }
  New-Item -ItemType Directory -Force -Path $folder | Out-Null
  $hostFolder = '/run/desktop/mnt/host/' + $folder.Substring(0, 1).ToLowerInvariant() + $folder.Substring(2)

  if ($pullImage) {
    $image = $pullImage
    Write-Host "crux: pulling $image"
    & $engine pull $image | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "crux: $image could not be pulled" }
  } else {
    Write-Host "crux: loading the agent's image from $cruxUrl"
    $file = [System.IO.Path]::GetTempFileName()
    try {
      $architecture = $env:PROCESSOR_ARCHITECTURE
      Invoke-WebRequest -UseBasicParsing -Headers @{ Authorization = "Bearer $cruxToken" } -Uri "$\{imageUrl}?architecture=$architecture" -OutFile $file
      $loaded = & $engine load --input $file
      if ($LASTEXITCODE -ne 0) { throw 'crux: the image could not be loaded' }
    } finally {
      Remove-Item -Force -Path $file -ErrorAction SilentlyContinue
    }
    $image = ($loaded | Select-String -Pattern '^Loaded image[^:]*: *(.+)$' | Select-Object -Last 1).Matches[0].Groups[1].Value
  }

  function Remove-Previous([string] $name) {
    if (-not (Test-Engine container inspect $name)) { return }
    $labels = (& $engine container inspect $name | ConvertFrom-Json)[0].Config.Labels
    if ($labels.'dev.crux.service-category' -ne '_internal') {
      throw "crux: a container named $name exists already and is not the agent's: rename it, or choose another name"
    }
    Write-Host "crux: replacing the previous $name"
    & $engine rm -f $name | Out-Null
  }

  Remove-Previous $containerName
  # The agent takes its token from a file and removes it: the engine shows the environment of a container for as long as it lives.
  $tokenFile = "$folder/.agent/install-token"
  New-Item -ItemType Directory -Force -Path "$folder/.agent" | Out-Null
  [System.IO.File]::WriteAllText($tokenFile, "$cruxToken\`n")
  $arguments = @(
    'run', '--detach', '--name', $containerName, '--restart', 'on-failure', '--label', $label,
    '--env', "CRUX_URL=$agentUrl", '--env', "CRUX_NODE_ID=$cruxNodeId",
    '--env', 'CRUX_DATA_DIR=/data', '--env', "DATA_MOUNT_PATH=$hostFolder",
    '--volume', "$\{hostFolder}:/data", '--volume', "$\{socket}:/var/run/docker.sock",
    '--add-host', 'host.docker.internal:host-gateway'
  )
  if ($env:CRUX_CA_FILE) {
    Copy-Item -Force -LiteralPath $env:CRUX_CA_FILE -Destination "$folder/.agent/ca.pem"
    $arguments += @('--env', 'NODE_EXTRA_CA_CERTS=/data/.agent/ca.pem')
  }
  if ($env:ROOT_DOMAIN) { $arguments += @('--env', "ROOT_DOMAIN=$env:ROOT_DOMAIN") }
  if ($insecure -eq 'true') { $arguments += @('--env', 'CRUX_INSECURE=true') }
  & $engine @arguments $image | Out-Null
  if ($LASTEXITCODE -ne 0) {
    Remove-Item -Force -LiteralPath $tokenFile -ErrorAction SilentlyContinue
    throw 'crux: the agent could not be started'
  }

  if ($acmeEmail) {
    if (-not ((Test-Engine image inspect $traefikImage) -or (Test-Engine pull $traefikImage))) {
      Write-Host "crux: $traefikImage could not be pulled: traefik was not started, everything else works without it"
    } else {
      Remove-Previous 'crux-traefik'
      & $engine run --detach --name crux-traefik --restart always --label $label --publish 80:80 --publish 443:443 \`
        --volume "$\{socket}:/var/run/docker.sock:ro" --volume "$\{hostFolder}/traefik/letsencrypt:/letsencrypt" \`
        $traefikImage '--entrypoints.web.address=:80' '--entrypoints.websecure.address=:443' \`
        '--providers.docker=true' '--providers.docker.exposedbydefault=false' \`
        '--certificatesresolvers.le.acme.httpchallenge=true' '--certificatesresolvers.le.acme.httpchallenge.entrypoint=web' \`
        '--certificatesresolvers.le.acme.storage=/letsencrypt/acme.json' "--certificatesresolvers.le.acme.email=$acmeEmail" | Out-Null
      if ($LASTEXITCODE -ne 0) { Write-Host 'crux: traefik could not be started; everything else works without it' }
    }
  }
  Write-Host "crux: the agent runs as $containerName, with its data in $folder"
}

Install-CruxAgent
`
