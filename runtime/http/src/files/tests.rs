use std::{net::IpAddr, time::Duration};

use toolwright_core::{Code, ToolError};

use super::{
    Content, Fetcher, FileInput, Guard, OpenFile, Source,
    data_uri::{self, Decoded},
    guard::is_public,
    input::from_home,
};
use crate::{
    CallContext, Config,
    testing::{Server, Setting, answer},
};

async fn setting() -> Setting {
    Setting::for_server(&Server::with("").await)
}

async fn opened(config: &Config, given: &str, guard: Guard) -> Result<OpenFile, ToolError> {
    let input = FileInput::parse(config, "file", given)?;
    input.open(config, &Fetcher::new(guard), &CallContext::within(Duration::from_secs(5))).await
}

async fn open(config: &Config, given: &str) -> Result<OpenFile, ToolError> {
    opened(config, given, Guard::public()).await
}

/// Loopback stands for the public internet here; every other address is refused.
fn loopback_only(address: IpAddr) -> bool {
    address.is_loopback()
}

fn decoded(bytes: &[u8], media_type: &str, name: Option<&str>) -> Decoded {
    Decoded { bytes: bytes.to_vec(), media_type: media_type.to_owned(), is_typed: true, name: name.map(str::to_owned) }
}

fn untyped(bytes: &[u8], media_type: &str) -> Decoded {
    Decoded { is_typed: false, ..decoded(bytes, media_type, None) }
}

#[test]
fn data_uris_are_decoded() {
    for (uri, wanted) in [
        ("data:audio/wav;base64,AAEC", decoded(&[0, 1, 2], "audio/wav", None)),
        ("data:text/plain,a%20b%ED%95%9C", decoded("a b한".as_bytes(), "text/plain", None)),
        ("data:,x", untyped(b"x", "text/plain")),
        ("DATA:Image/PNG;BASE64,AA%3D%3D", decoded(&[0], "image/png", None)),
        ("data:audio/wav;name=%ED%95%9C.wav;base64,AA==", decoded(&[0], "audio/wav", Some("한.wav"))),
        ("data:audio/wav;name=../x.wav;base64,AA==", decoded(&[0], "audio/wav", Some("x.wav"))),
        ("data:text/plain;charset=utf-8,a,b;c", decoded(b"a,b;c", "text/plain", None)),
        ("data:no type,x", untyped(b"x", "application/octet-stream")),
    ] {
        assert_eq!(data_uri::parse(uri), Ok(wanted), "{uri}");
    }
}

#[test]
fn base64_is_strict() {
    for uri in ["data:;base64,A A=", "data:;base64,AA", "data:;base64,A*==", "data:nothing"] {
        assert!(data_uri::parse(uri).is_err(), "{uri}");
    }
}

#[tokio::test]
async fn base64_text_is_a_file_without_a_type() {
    let setting = setting().await;
    let input = FileInput::parse(&setting.config, "file", "base64:AAEC").unwrap();
    let Source::Inline { bytes, media_type, name, .. } = input.source else { panic!() };
    assert_eq!(
        (bytes.as_ref(), media_type.as_str(), name.as_str()),
        ([0, 1, 2].as_slice(), "application/octet-stream", "upload.bin")
    );
    let error = FileInput::parse(&setting.config, "file", "base64:A-_=").unwrap_err();
    assert_eq!(error.code, Code::FileRefused);
}

#[tokio::test]
async fn inline_content_is_limited() {
    let setting = setting().await.with(|config| config.max_upload_bytes = 3);
    assert!(FileInput::parse(&setting.config, "file", "base64:AAEC").is_ok());
    for given in ["base64:AAECAw==", "data:text/plain,abcd"] {
        let error = FileInput::parse(&setting.config, "file", given).unwrap_err();
        assert_eq!(error.code, Code::TooLarge, "{given}");
        assert!(error.message.contains(" 3 bytes"), "{}", error.message);
    }
}

#[tokio::test]
async fn paths_lie_below_the_root() {
    let setting = setting().await;
    let root = &setting.config.file_root;
    std::fs::create_dir(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/소리.wav"), "RIFF").unwrap();
    let absolute = root.join("sub/소리.wav");
    for given in ["sub/소리.wav", "./sub//소리.wav", absolute.to_str().unwrap()] {
        let file = open(&setting.config, given).await.unwrap();
        assert_eq!((file.name.as_str(), file.media_type.as_str()), ("소리.wav", "audio/wav"));
        assert!(matches!(file.content, Content::File { length: 4, .. }));
    }
}

#[tokio::test]
async fn paths_never_leave_the_root_and_messages_never_name_it() {
    let setting = setting().await;
    let outside = setting.folder.path().join("secret.txt");
    std::fs::write(&outside, "secret").unwrap();
    let given =
        ["../secret.txt", "a/../../secret.txt", outside.to_str().unwrap(), "/etc/passwd", "~/x", "missing", ".", ""];
    for given in given {
        let error = open(&setting.config, given).await.unwrap_err();
        assert_eq!(error.code, Code::FileRefused, "{given}");
        let root = setting.folder.path().to_str().unwrap();
        assert!(!error.message.contains(root), "{given}: {}", error.message);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_below_the_root_and_not_out_of_it() {
    use std::os::unix::fs::symlink;
    let setting = setting().await;
    let root = &setting.config.file_root;
    std::fs::write(setting.folder.path().join("secret.txt"), "secret").unwrap();
    std::fs::write(root.join("inside.txt"), "inside").unwrap();
    symlink("../secret.txt", root.join("file-link")).unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/deep.txt"), "deeper").unwrap();
    symlink("inside.txt", root.join("inner-link")).unwrap();
    symlink(root.join("inside.txt"), root.join("absolute-link")).unwrap();
    symlink("../inner-link", root.join("sub/chain")).unwrap();
    symlink("sub", root.join("sub-link")).unwrap();
    symlink("..", root.join("folder-link")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    symlink(".", root.join("root-link")).unwrap();
    for (given, size) in [("inner-link", 6), ("absolute-link", 6), ("sub/chain", 6), ("sub-link/deep.txt", 6)] {
        let file = open(&setting.config, given).await.unwrap();
        assert_eq!(file.name, given.rsplit('/').next().unwrap());
        assert!(matches!(file.content, Content::File { length, .. } if length == size), "{given}");
    }
    for given in ["file-link", "folder-link/secret.txt", "circle"] {
        let error = open(&setting.config, given).await.unwrap_err();
        assert_eq!(error.code, Code::FileRefused, "{given}");
        assert!(error.message.contains("link"), "{given}: {}", error.message);
    }
    assert_eq!(open(&setting.config, "root-link").await.unwrap_err().code, Code::FileRefused);
}

#[cfg(unix)]
#[tokio::test]
async fn a_root_that_is_a_link_is_the_place_that_it_leads_to() {
    let setting = setting().await;
    std::fs::write(setting.config.file_root.join("a.txt"), "a").unwrap();
    let link = setting.folder.path().join("root-link");
    std::os::unix::fs::symlink(&setting.config.file_root, &link).unwrap();
    let setting = setting.with(|config| config.file_root = link);
    assert!(open(&setting.config, "a.txt").await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn what_others_received_is_never_sent() {
    use std::os::unix::fs::symlink;
    let setting = setting().await.with(|config| config.output_dir = config.file_root.join("out"));
    let root = &setting.config.file_root;
    std::fs::create_dir(root.join("out")).unwrap();
    std::fs::write(root.join("out/saved.wav"), "RIFF").unwrap();
    std::fs::write(root.join("output.wav"), "RIFF").unwrap();
    symlink("out", root.join("folder-link")).unwrap();
    symlink("out/saved.wav", root.join("file-link")).unwrap();
    let absolute = root.join("out/saved.wav");
    for given in
        ["out/saved.wav", "out/missing.wav", "out", "folder-link/saved.wav", "file-link", absolute.to_str().unwrap()]
    {
        let error = open(&setting.config, given).await.unwrap_err();
        assert_eq!(error.code, Code::FileRefused, "{given}");
        assert!(error.message.contains("the output folder"), "{given}: {}", error.message);
    }
    assert!(open(&setting.config, "output.wav").await.is_ok());
    let same = setting.with(|config| config.file_root = config.output_dir.clone());
    assert!(open(&same.config, "saved.wav").await.unwrap_err().message.contains("the output folder"));
}

#[cfg(unix)]
#[test]
fn a_path_below_the_home_folder_is_an_absolute_one() {
    let home = || Some("/home/u".into());
    assert_eq!(from_home("~/a/b", home()).as_deref(), Some("/home/u/a/b"));
    assert_eq!(from_home("~//etc/passwd", home()).as_deref(), Some("/home/u/etc/passwd"));
    for (given, home) in
        [("~", home()), ("~other/a", home()), ("a/~/b", home()), ("~/a", None), ("~/a", Some("".into()))]
    {
        assert_eq!(from_home(given, home), None, "{given}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_regular_files_are_opened() {
    let setting = setting().await;
    std::fs::create_dir(setting.config.file_root.join("folder")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(setting.config.file_root.join("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/null", setting.config.file_root.join("device")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(setting.config.file_root.join("pipe")).status().unwrap().success()
    );
    for given in ["folder", "socket", "device", "pipe"] {
        assert_eq!(open(&setting.config, given).await.unwrap_err().code, Code::FileRefused, "{given}");
    }
    drop(socket);
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_unread() {
    let setting = setting().await.with(|config| config.max_upload_bytes = 3);
    std::fs::write(setting.config.file_root.join("big"), "1234").unwrap();
    assert_eq!(open(&setting.config, "big").await.unwrap_err().code, Code::TooLarge);
}

#[tokio::test]
async fn urls_are_off_by_default() {
    let setting = setting().await;
    let error = open(&setting.config, "http://example.com/x").await.unwrap_err();
    assert_eq!(error.code, Code::FileRefused);
    assert!(error.message.contains("FILE_URLS"));
}

#[tokio::test]
async fn other_schemes_are_refused() {
    let setting = setting().await.with(|config| config.file_urls = true);
    for given in ["ftp://example.com/x", "file:///etc/passwd", "gopher://x", "http://user:pw@example.com/"] {
        assert_eq!(open(&setting.config, given).await.unwrap_err().code, Code::FileRefused, "{given}");
    }
}

#[test]
fn only_public_addresses_are_public() {
    let refused = [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "100::1",
    ];
    for address in refused {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
    let admitted = ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:8.8.8.8"];
    for address in admitted {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}

#[tokio::test]
async fn addresses_that_are_not_public_are_never_fetched() {
    let server = Server::with(answer("200 OK", &[], "secret")).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    let port = server.url.port().unwrap();
    let spelled = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
    ];
    for given in spelled {
        let error = open(&setting.config, &given).await.unwrap_err();
        assert_eq!(error.code, Code::FileRefused, "{given}");
        assert!(error.message.contains("not public"), "{given}: {}", error.message);
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_url_is_fetched_without_credentials_and_named_by_its_path() {
    let server = Server::with(answer("200 OK", &[("content-type", "audio/wav; x=y")], "RIFF")).await;
    let setting = setting().await.with(|config| {
        config.file_urls = true;
        config.api_key = Some("key-123".into());
    });
    let given = format!("{}a/%ED%95%9C.wav?sig=1", server.url);
    let file = opened(&setting.config, &given, Guard::admitting(loopback_only)).await.unwrap();
    assert_eq!((file.name.as_str(), file.media_type.as_str()), ("한.wav", "audio/wav"));
    assert!(matches!(file.content, Content::Bytes(bytes) if bytes == "RIFF"));
    assert_eq!(server.only_request().header("authorization"), None);
}

#[tokio::test]
async fn every_redirect_passes_the_guard() {
    let location = [("location", "http://169.254.169.254/latest/meta-data")];
    let server = Server::with(answer("302 Found", &location, "")).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    let error = opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.unwrap_err();
    assert!(error.message.contains("not public"), "{}", error.message);
}

#[tokio::test]
async fn a_redirect_within_bounds_is_followed() {
    let answers = vec![answer("302 Found", &[("location", "/b")], ""), answer("200 OK", &[], "x")];
    let server = Server::in_turn(answers).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    assert!(opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.is_ok());
    assert_eq!(server.requests()[1].line, "GET /b HTTP/1.1");
}

#[tokio::test]
async fn endless_redirects_end() {
    let server = Server::with(answer("302 Found", &[("location", "/again")], "")).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    let error = opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.unwrap_err();
    assert!(error.message.contains("too often"));
}

#[tokio::test]
async fn fetched_content_is_limited_while_it_streams() {
    // Without a length, so that only counting can tell.
    let endless = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(5000));
    let server = Server::with(endless).await;
    let setting = setting().await.with(|config| {
        config.file_urls = true;
        config.max_upload_bytes = 1000;
    });
    let error = opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.unwrap_err();
    assert_eq!(error.code, Code::TooLarge);
}

#[tokio::test]
async fn an_error_status_is_refused() {
    let server = Server::with(answer("404 Not Found", &[], "")).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    let error = opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.unwrap_err();
    assert_eq!(error.message, "`file`: the URL answered with status 404");
}

#[tokio::test]
async fn large_fetched_content_goes_to_an_unnamed_file() {
    let server = Server::with(answer("200 OK", &[], vec![7; 3_000_000])).await;
    let setting = setting().await.with(|config| config.file_urls = true);
    let file = opened(&setting.config, server.url.as_str(), Guard::admitting(loopback_only)).await.unwrap();
    assert!(matches!(file.content, Content::File { length: 3_000_000, .. }));
    assert_eq!(std::fs::read_dir(&setting.config.output_dir).unwrap().count(), 0);
}

/// Saves an answer of an earlier call by hand, and gives its URI.
fn saved_answer(config: &Config, content: &str) -> String {
    let name = "1700000000000-0123abcd-notes.txt";
    std::fs::create_dir_all(&config.output_dir).unwrap();
    std::fs::write(config.output_dir.join(name), content).unwrap();
    format!("toolwright://demo/files/{name}")
}

#[tokio::test]
async fn a_saved_answer_is_a_file_by_its_uri() {
    let setting = setting().await;
    let uri = saved_answer(&setting.config, "abc");
    let file = open(&setting.config, &uri).await.unwrap();
    assert_eq!((file.name.as_str(), file.media_type.as_str()), ("notes.txt", "text/plain"));
    assert!(matches!(file.content, Content::File { length: 3, .. }));
}

#[tokio::test]
async fn only_files_that_are_resources_have_such_a_uri() {
    let setting = setting().await;
    let uri = saved_answer(&setting.config, "abc");
    std::fs::write(setting.config.output_dir.join("other.txt"), "x").unwrap();
    for other in ["other.txt", "..%2Fsecret", "1700000000000-0123abcd-gone.txt", ""] {
        let error = open(&setting.config, &format!("toolwright://demo/files/{other}")).await.unwrap_err();
        assert_eq!(error.code, Code::FileRefused, "{other}");
    }
    let error = open(&setting.config, &uri.replace("demo", "other")).await.unwrap_err();
    assert_eq!(error.code, Code::FileRefused);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_among_the_saved_answers_is_not_followed() {
    let setting = setting().await;
    let uri = saved_answer(&setting.config, "abc").replace("notes", "link");
    let secret = setting.folder.path().join("secret");
    std::fs::write(&secret, "s").unwrap();
    std::os::unix::fs::symlink(&secret, setting.config.output_dir.join("1700000000000-0123abcd-link.txt")).unwrap();
    assert_eq!(open(&setting.config, &uri).await.unwrap_err().code, Code::FileRefused);
}

#[tokio::test]
async fn a_saved_answer_over_the_limit_is_refused() {
    let mut setting = setting().await;
    setting.config.max_upload_bytes = 2;
    let uri = saved_answer(&setting.config, "abc");
    assert_eq!(open(&setting.config, &uri).await.unwrap_err().code, Code::TooLarge);
}
