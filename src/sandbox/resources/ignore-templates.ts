/** Names of the ignore templates that a stock Gitea 1.27 carries, as `GET /gitignore/templates` lists them. */
const NAMES = `
  AL Actionscript Ada Agda Alteryx AltiumDesigner Android Anjuta Ansible AppEngine AppceleratorTitanium
  ArchLinuxPackages Archives AtmelStudio AutoIt AutomationStudio Autotools B4X Backup Ballerina Bazaar Bazel Beef
  Bitrix BricxCC C C++ CDK CFWheels CMake CUDA CVS CakePHP Calabash ChefCookbook Clojure Cloud9 CodeIgniter CodeKit
  CodeSniffer CommonLisp Composer Concrete5 Coq Cordova CraftCMS D DM Dart DartEditor Delphi Diff Dreamweaver
  Dropbox Drupal Drupal7 ECU-TEST EPiServer Eagle Eclipse EiffelStudio Elisp Elixir Elm Emacs Ensime Erlang Espresso
  Exercism ExpressionEngine ExtJs Fancy Finale Firebase FlaxEngine FlexBuilder Flutter ForceDotCom Fortran FuelPHP
  GNOMEShellExtension GPG GWT Gcov GitBook GitHubPages Go Go.AllowList Godot Gradle Grails Gretl Haskell Hexo Hugo
  IAR IAR_EWARM IGORPro Idris Images InforCMS JBoss JBoss4 JBoss6 JDeveloper JENKINS_HOME JEnv Java Jekyll JetBrains
  Jigsaw Joomla Julia JupyterNotebooks KDevelop4 Kate Kentico KiCad Kohana Kotlin LabVIEW Laravel Lazarus Leiningen
  LemonStand LensStudio LibreOffice Lilypond Linux Lithium Logtalk Lua LyX MATLAB Magento Magento1 Magento2 Maven
  Mercurial Mercury MetaProgrammingSystem Metals Meteor MicrosoftOffice ModelSim Modelica Momentics MonoDevelop Move
  NWjs Nanoc NasaSpecsIntact NetBeans Nikola Nim Ninja Nix Node NotepadPP NotesAndCoreConfiguration
  NotesAndExtendedConfiguration NotesOnly OCaml Objective-C Octave Opa OpenCart OpenSSL OpenTofu OracleForms Otto
  PSoCCreator Packer Patch Perl Perl6 Phalcon Phoenix Pimcore PlayFramework Plone Prestashop Processing PuTTY Puppet
  PureScript Python Qooxdoo Qt R ROS ROS2 Racket Rails Raku ReScript Red Redcar Redis RhodesRhomobile Ruby Rust SAM
  SBT SCons SPFx SVN Sass Scala Scheme Scrivener Sdcc SeamGen SketchUp SlickEdit Smalltalk Snap Splunk Stata Stella
  Strapi SublimeText SugarCRM Swift Symfony SymphonyCMS Syncthing SynopsysVCS Tags TeX Terraform Terragrunt TextMate
  Textpattern ThinkPHP Toit TortoiseGit TurboGears2 TwinCAT3 Typo3 UiPath Umbraco Unity UnrealEngine V VVVV Vagrant
  Vim VirtualEnv Virtuoso VisualStudio VisualStudioCode Vue Waf WebMethods Windows WordPress Xcode Xilinx XilinxISE
  Xojo Yeoman Yii ZendFramework Zephir Zig core esp-idf macOS uVision
`;

/** The sandbox keeps the name of a template, not its text. */
export const ignoreTemplates: ReadonlyMap<string, string> = new Map(
  NAMES.trim()
    .split(/\s+/)
    .map((name) => [name, `# ${name}\n`]),
);
