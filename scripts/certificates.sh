# Sourced by the services that speak TLS: an authority of their own, made once in a second, and a server's certificate from it.
# shellcheck shell=bash

# ca.pem, server.pem and server.key in the directory, for localhost and 127.0.0.1. The authority's key is thrown away.
make_certificates() {  # make_certificates <directory>
  local into=$1 new=$1.new key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
  if [[ -e $into ]]; then return; fi
  rm -rf "$new"
  mkdir -p "$new"
  {
    openssl req -x509 "${key[@]}" -days 3650 -subj "/CN=Onceward tests $RANDOM$RANDOM" -keyout "$new/ca.key" -out "$new/ca.pem" \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign &&
      openssl req "${key[@]}" -subj /CN=localhost -keyout "$new/server.key" -out "$new/server.csr" &&
      openssl x509 -req -in "$new/server.csr" -CA "$new/ca.pem" -CAkey "$new/ca.key" -CAcreateserial -days 3650 \
        -extfile <(printf '%s\n' 'subjectAltName=DNS:localhost,IP:127.0.0.1' 'extendedKeyUsage=serverAuth' \
          'keyUsage=critical,digitalSignature') -out "$new/server.pem"
  } >"$new/log" 2>&1 || die "openssl makes no certificate: $(tail -5 "$new/log")"
  rm -f "$new"/{ca.key,ca.srl,server.csr,log}
  mv "$new" "$into"
}
